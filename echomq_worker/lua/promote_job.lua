-- Let jobs that wait in `schedule` be claimed now, whenever they are due. Where a job expires so long
-- after it is due, that counts from now. Repeatable: the same call gets the same answer, and lets no
-- job skip a wait that came after it.
--
--! keys root pending schedule bell log
--! args caller call_number again log_size
--! rest ids
--! include time receipt waiting quarantine side log check
--
-- Replies one character each: 1 moved, 0 gone (or set aside, when its row cannot be used), 3 not in
-- `schedule`.

local earlier = earlier_answer()
if earlier then return earlier end
if earlier == false then return redis.error_reply(refusal) end
local wrong = wrong_type({ pending, 'zset', schedule, 'zset', bell, 'list' }) or wrong_side_key() or wrong_log()
if wrong then return wrong end
local rows = {}
for at = ids, #ARGV do
  rows[at] = redis.pcall('HMGET', root .. 'job:' .. ARGV[at], 'attempts', 'payload', 'group', 'expires_in',
    'more')
  wrong = wrong_lane(rows[at][3])
  if wrong then return wrong end
end

local function move(id, row)
  local fault = row_fault(row)
  if redis.call('ZREM', schedule, id) == 0 then return fault and '0' or '3' end
  if fault then
    set_aside(id, fault)
    return '0'
  end
  redis.call('HSET', root .. 'job:' .. id, 'state', 'pending')
  if row[4] and whole(row[4], 0) then
    redis.call('HSET', root .. 'job:' .. id, 'expires', string.format('%.0f', now + row[4]))
  end
  put_waiting(id, row[3], row[5])
  note('promoted', id, row[1])
  return '1'
end

local verdicts = {}
for at = ids, #ARGV do verdicts[#verdicts + 1] = move(ARGV[at], rows[at]) end
settle_down()
local answer = table.concat(verdicts)
keep_answer(answer, string.find(answer, '1', 1, true) ~= nil or set_aside_count > 0)
return answer
