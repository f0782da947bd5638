-- Admit jobs to where they wait. An id that has a row already is a duplicate, and nothing changes for it.
--
--! keys root pending dead dead_at bell log
--! args caller call_number again log_size
--! rest jobs
--! include time receipt waiting expiry lane_max side log check
--
-- `jobs`: for each its id, payload, number of row fields, and those fields and values.
-- Replies one character a job: 1 admitted, 0 duplicate, f its lane is full.

local earlier = earlier_answer()
if earlier then return earlier end
if earlier == false then return redis.error_reply(refusal) end
local wrong = wrong_type({ pending, 'zset', bell, 'list' }) or wrong_log()
if wrong then return wrong end

local function value_of(name, first, count)
  for i = first, first + count - 1, 2 do
    if ARGV[i] == name then return ARGV[i + 1] end
  end
  return nil
end

local sides_checked = false
local function wrong_sides()
  if sides_checked then return nil end
  sides_checked = true
  return wrong_side_key() or wrong_type({ dead, 'zset', dead_at, 'zset' })
end

local function bad_place(first, count)
  local group = value_of('group', first, count)
  if group and not string.find(group, '^%u%u%u%w%w%w%w%w%w%w%w%w%w%w$') then return bad_argument('group') end
  return (group or value_of('priority', first, count)) and wrong_sides()
end

local at = jobs
while at <= #ARGV do
  if not job_id(ARGV[at]) then return redis.error_reply('EMQKIND job id must be JOB-namespaced') end
  if not whole(ARGV[at + 2], 0) then return bad_argument('fields') end
  local bad = bad_expiry(at + 3, 2 * ARGV[at + 2]) or bad_place(at + 3, 2 * ARGV[at + 2])
  if bad then return bad end
  at = at + 3 + 2 * ARGV[at + 2]
end

local verdicts, admitted = {}, 0
at = jobs
while at <= #ARGV do
  local id, payload, fields = ARGV[at], ARGV[at + 1], 2 * ARGV[at + 2]
  local row, group = root .. 'job:' .. id, value_of('group', at + 3, fields)
  if redis.call('EXISTS', row) == 1 then
    verdicts[#verdicts + 1] = '0'
  elseif group and lane_refuses(group) then
    verdicts[#verdicts + 1] = 'f'
  else
    redis.call('HSET', row, 'state', 'pending', 'attempts', '0', 'payload', payload,
      row_fields(at + 3, fields, now))
    put_waiting(id, group, value_of('more', at + 3, fields))
    if group then drop_oldest(group, id) end
    note('enqueued', id, 0)
    admitted = admitted + 1
    verdicts[#verdicts + 1] = '1'
  end
  at = at + 3 + fields
end

settle_down()
local answer = table.concat(verdicts)
keep_answer(answer, admitted > 0)
return answer
