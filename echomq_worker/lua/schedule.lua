-- Admit jobs to `schedule`, each at an instant or after a delay by the server's clock.
--
--! keys root schedule clock log
--! args caller call_number again log_size
--! rest jobs
--! include time receipt schedule expiry log check
--
-- `jobs`: for each its id, payload, `at` or `in`, ms, number of row fields, and those fields and values.
-- Replies one character a job: 1 admitted, 0 duplicate.

local earlier = earlier_answer()
if earlier then return earlier end
if earlier == false then return redis.error_reply(refusal) end
local wrong = wrong_type({ schedule, 'zset', clock, 'list' }) or wrong_log()
if wrong then return wrong end

local at = jobs
while at <= #ARGV do
  if not job_id(ARGV[at]) then return redis.error_reply('EMQKIND job id must be JOB-namespaced') end
  local lowest = ARGV[at + 2] == 'in' and 0 or -9007199254740991
  if not whole(ARGV[at + 3], lowest) then return bad_argument('due time') end
  if not whole(ARGV[at + 4], 0) then return bad_argument('fields') end
  local bad = bad_expiry(at + 5, 2 * ARGV[at + 4])
  if bad then return bad end
  at = at + 5 + 2 * ARGV[at + 4]
end

local verdicts, admitted = {}, 0
at = jobs
while at <= #ARGV do
  local id, payload, mode, ms, fields =
    ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3]), 2 * ARGV[at + 4]
  local row = root .. 'job:' .. id
  if redis.call('EXISTS', row) == 1 then
    verdicts[#verdicts + 1] = '0'
  else
    local due = mode == 'in' and due_after(ms) or ms
    redis.call('HSET', row, 'state', 'scheduled', 'attempts', '0', 'payload', payload,
      row_fields(at + 5, fields, math.max(due, now)))
    put_scheduled(id, due)
    note('scheduled', id, 0)
    admitted = admitted + 1
    verdicts[#verdicts + 1] = '1'
  end
  at = at + 5 + fields
end

nudge_watcher()
local answer = table.concat(verdicts)
keep_answer(answer, admitted > 0)
return answer
