-- Bring dead jobs back, each to where it waits, with all its attempts before it again. The token does
-- not go down: what has been counted is written off as returned. A claim that a lost lease has left
-- open is over ('!', the end of no claim id), so that its holder cannot settle a job that has died.
-- Repeatable: the same call gets the same answer, and revives nobody twice.
--
--! keys root pending dead dead_at bell log
--! args caller call_number again log_size
--! rest ids
--! include receipt waiting unique quarantine side log check
--
-- Replies one character each: 1 requeued, 0 gone (or set aside, when its row cannot be used), 3 not dead.

local earlier = earlier_answer()
if earlier then return earlier end
if earlier == false then return redis.error_reply(refusal) end
local wrong = wrong_type({ pending, 'zset', dead, 'zset', dead_at, 'zset', bell, 'list' })
  or wrong_side_key() or wrong_log()
if wrong then return wrong end
local rows = {}
for at = ids, #ARGV do
  rows[at] = redis.pcall('HMGET', root .. 'job:' .. ARGV[at], 'attempts', 'payload', 'group', 'claim',
    'more')
  wrong = wrong_lane(rows[at][3])
  if wrong then return wrong end
end

local function requeue(id, row)
  local fault = row_fault(row)
  if redis.call('ZREM', dead, id) == 0 then return fault and '0' or '3' end
  redis.call('ZREM', dead_at, id)
  if fault then
    set_aside(id, fault)
    return '0'
  end
  redis.call('HDEL', root .. 'job:' .. id, 'last_error', 'crashes', 'unknown', 'expires', 'expires_in')
  redis.call('HSET', root .. 'job:' .. id, 'state', 'pending', 'returned', row[1])
  if row[4] and string.sub(row[4], -1) ~= '!' then redis.call('HSET', root .. 'job:' .. id, 'claim', '!') end
  unique_again(id, row[5])
  put_waiting(id, row[3], row[5])
  note('requeued', id, row[1])
  return '1'
end

local verdicts = {}
for at = ids, #ARGV do verdicts[#verdicts + 1] = requeue(ARGV[at], rows[at]) end
settle_down()
local answer = table.concat(verdicts)
keep_answer(answer, string.find(answer, '1', 1, true) ~= nil or set_aside_count > 0)
return answer
