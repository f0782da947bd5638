-- Make a job of a scheduler's template now, whatever its rule, its pause and its overlap policy say. The next
-- instant stays as it is. Repeatable: the same call gets the same answer, and one id makes one job.
--
--! keys root pending bell log
--! args caller call_number again name id log_size
--! include time receipt scheduler scheduler_job scheduler_runs waiting log check
--
-- Replies 1, 0 if there is a job of that id that is not this one, 2 if there is no such scheduler.

local earlier = earlier_answer()
if earlier then return tonumber(earlier) end
if earlier == false then return redis.error_reply(refusal) end
local key = scheduler_key(name)
if not job_id(id) then return redis.error_reply('EMQKIND job id must be JOB-namespaced') end
local wrong = wrong_type({ pending, 'zset', bell, 'list', key, 'hash' }) or wrong_log()
if wrong then return wrong end

local books = redis.call('HMGET', key, 'digest', 'triggered', 'runs', 'overlap', 'live', 'next', 'held', 'every')

local function judge()
  if not books[1] then return 2 end
  if books[2] == id then return 1 end
  return redis.call('EXISTS', root .. 'job:' .. id) == 1 and 0 or 1
end

-- Occurrences of the rule have instants of their own; those of a cron rule are whole seconds.
local function is_planned(instant)
  local period = whole(books[8] or '', 100)
  local from = period and tonumber(books[6] or '') or 0
  return digits(instant) == books[6] or digits(instant) == books[7] or (instant - from) % (period or 1000) == 0
end

local function trigger()
  local runs, instant = read_runs(books[3]), now
  while runs.known[digits(instant)] or is_planned(instant) do instant = instant + 1 end
  make_job(id, name, digits(instant), redis.call('HMGET', key, unpack(TEMPLATE)))
  local set, gone = { 'triggered', id }, {}
  -- Later occurrences of the rule have this job as a predecessor too.
  local guarded = books[4] == 'skip' or books[4] == 'queue-one'
  local live = guarded and predecessors(key, books[5], runs) or nil
  add_run(runs, digits(instant), string.format('%s triggered %.0f', id, now))
  prune_runs(runs, set, gone)
  if live then
    live[#live + 1] = id
    set[#set + 1] = 'live'
    set[#set + 1] = table.concat(live, ' ', math.max(1, #live - MOST_LIVE + 1))
  end
  redis.call('HSET', key, unpack(set))
  if #gone > 0 then redis.call('HDEL', key, unpack(gone)) end
  settle_down()
end

local verdict = judge()
local changed = verdict == 1 and books[2] ~= id
if changed then trigger() end
keep_answer(verdict, changed)
return verdict
