-- Let jobs that wait in `schedule` be due at another time, earlier or later; a time that is past is due
-- at once. Where a job expires so long after it is due, that moves along. Repeatable: the same call
-- gets the same answer, and moves nothing twice.
--
--! keys root schedule clock log
--! args caller call_number again mode ms log_size
--! rest ids
--! include time receipt schedule quarantine side log check
--
-- `mode` is `at` or `in`, as in schedule.lua. Replies one character each: 1 moved, 0 gone (or set aside,
-- when its row cannot be used), 3 not in `schedule`.

local earlier = earlier_answer()
if earlier then return earlier end
if earlier == false then return redis.error_reply(refusal) end
if not whole(ms, mode == 'in' and 0 or -9007199254740991) then return bad_argument('due time') end
local wrong = wrong_type({ schedule, 'zset', clock, 'list' }) or wrong_side_key() or wrong_log()
if wrong then return wrong end
local rows = {}
for at = ids, #ARGV do
  rows[at] = redis.pcall('HMGET', root .. 'job:' .. ARGV[at], 'attempts', 'payload', 'expires_in')
end

local due = mode == 'in' and due_after(tonumber(ms)) or tonumber(ms)

-- It is taken out first, which frees memory, so that a full server can be emptied by moving jobs nearer.
local function move(id, row)
  local fault = row_fault(row)
  if redis.call('ZREM', schedule, id) == 0 then return fault and '0' or '3' end
  if fault then
    set_aside(id, fault)
    return '0'
  end
  put_scheduled(id, due)
  if row[3] and whole(row[3], 0) then
    redis.call('HSET', root .. 'job:' .. id, 'expires', string.format('%.0f', math.max(due, now) + row[3]))
  end
  note('rescheduled', id, row[1])
  return '1'
end

local verdicts = {}
for at = ids, #ARGV do verdicts[#verdicts + 1] = move(ARGV[at], rows[at]) end
nudge_watcher()
local answer = table.concat(verdicts)
keep_answer(answer, string.find(answer, '1', 1, true) ~= nil or set_aside_count > 0)
return answer
