-- Let jobs have another priority; 0 is the rank of mint order. One that waits to be claimed moves to its
-- new place at once, with the arrival number that it has; any other has it when it waits the next time.
-- A job of a lane has none. Repeatable: the same call gets the same answer.
--
--! keys root pending bell log
--! args caller call_number again priority log_size
--! rest ids
--! include time receipt waiting parking quarantine side log check
--
-- Replies one character each: 1 moved, 0 gone, 2 it does not wait to be claimed, and its row says so, 3 it
-- belongs to a lane. A row that cannot be used counts as gone: who claims it sets it aside.

local earlier = earlier_answer()
if earlier then return earlier end
if earlier == false then return redis.error_reply(refusal) end
if priority ~= '0' and not rung(priority) then return bad_argument('priority') end
local wrong = wrong_type({ pending, 'zset', bell, 'list' }) or wrong_side_key() or wrong_log()
if wrong then return wrong end

-- It is taken out first, which frees memory.
local function move(id)
  local key = root .. 'job:' .. id
  local row = redis.pcall('HMGET', key, 'attempts', 'payload', 'group', 'held')
  if row_fault(row) then return '0' end
  if row[3] then return '3' end
  local waits = not is_kept(row[4]) and take_waiting(id)
  if priority == '0' then
    redis.call('HDEL', key, 'priority')
  else
    redis.call('HSET', key, 'more', '1', 'priority', priority)
  end
  if not waits then return '2' end
  redis.call('HDEL', key, 'held')
  put_waiting(id, nil, true)
  note('reprioritized', id, row[1])
  return '1'
end

local verdicts, given = {}, {}
for at = ids, #ARGV do
  local id = ARGV[at]
  given[id] = given[id] or move(id)
  verdicts[#verdicts + 1] = given[id]
end
settle_down()
local answer = table.concat(verdicts)
keep_answer(answer, string.find(answer, '[12]') ~= nil)
return answer
