-- Settling: first every outcome is decided by reading, then all is written.
--! needs root pending active schedule dead dead_at completed completed_count failed_count outcomes keep_results
--! include time check lanes waiting schedule gates unique flow count log occurrence
local WIDTH = 7
local KINDS = {
  C = true, R = true, r = true, B = true, N = true, S = true, A = true, U = true, H = true, h = true, P = true,
}
local JOB_PARTS = { ':logs', ':lock', ':dependencies', ':processed', ':failed', ':unsuccessful' }

local function bad_outcomes()
  if not whole(keep_results, 0) then return bad_argument('keep_results') end
  if (#ARGV - outcomes + 1) % WIDTH ~= 0 then return bad_argument('outcomes') end
  for at = outcomes, #ARGV, WIDTH do
    if not KINDS[ARGV[at]] then return bad_argument('kind') end
    if not whole(ARGV[at + 4], 0) then return bad_argument('ms') end
  end
  return wrong_type({
    dead, 'zset', dead_at, 'zset', completed, 'zset', completed_count, 'hash', failed_count, 'hash',
  })
end

-- Does this caller hold the job? '1' if so (and whether it is active), else the verdict.
local function hold(row, lease, token, claim)
  if row.err then return '3' end
  if not row[1] then return '0' end
  if claim ~= '' and row[2] == claim .. '!' then return '2' end
  -- An active job whose claim of ours is over was claimed by a peer, who has no claim id.
  local own = row[2] or ''
  if lease and string.sub(own, -1) == '!' then own = '' end
  if row[1] ~= token or own ~= claim then return '3' end
  if lease then return '1' end
  return row[3] == 'pending' and token ~= '0' and '1' or '3'
end

-- The place of a result to keep that holds something else.
local function wrong_place(at)
  if ARGV[at] ~= 'C' or ARGV[at + 4] == '0' then return nil end
  return wrong_type({ root .. 'done:' .. ARGV[at + 1], 'hash' })
end

local function read_outcomes()
  local ids, seen, taken = {}, {}, {}
  for at = outcomes, #ARGV, WIDTH do ids[#ids + 1] = ARGV[at + 1] end
  local leases = #ids > 0 and redis.call('ZMSCORE', active, unpack(ids)) or {}
  local verdicts, released = {}, {}
  for i, id in ipairs(ids) do
    local at = outcomes + (i - 1) * WIDTH
    local row = redis.pcall('HMGET', root .. 'job:' .. id, 'attempts', 'claim', 'state', 'group',
      'parent', 'parent_queue', 'parent_policy', 'crashes', 'unknown', 'returned', 'scheduler', 'more', 'slots')
    local verdict = seen[id] and '2' or hold(row, leases[i], ARGV[at + 2], ARGV[at + 3])
    verdicts[i] = verdict
    if verdict == '1' then
      local wrong = wrong_place(at)
      if wrong then return nil, wrong end
      seen[id] = true
      taken[#taken + 1] = { at = at, id = id, row = row, active = leases[i], index = i }
      if leases[i] then released[#released + 1] = id end
    end
  end
  return { verdicts = verdicts, taken = taken, released = released }
end

local function keep_result(id, ms, result)
  local key = root .. 'done:' .. id
  redis.call('HSET', key, 'outcome', 'completed', 'result', result, 'finished', now)
  redis.call('PEXPIRE', key, ms)
  redis.call('ZADD', completed, now, id)
  for _ = 1, 2 do
    local oldest = redis.call('ZRANGE', completed, 0, 0)[1]
    if not oldest then return end
    local surplus = redis.call('ZCARD', completed) > tonumber(keep_results)
    if not surplus and redis.call('EXISTS', root .. 'done:' .. oldest) == 1 then return end
    redis.call('ZREM', completed, oldest)
    redis.call('DEL', root .. 'done:' .. oldest)
  end
end

local function complete(job, text, ms, gone)
  local row = job.row
  if row[5] then child_completed(job.id, row[5], row[6], text == '' and job.id or text) end
  if ms > 0 then keep_result(job.id, ms, text) end
  occurrence_ended(job.id, row[11], 'completed')
  unique_end(job.id, row[12])
  local key = root .. 'job:' .. job.id
  gone[#gone + 1] = key
  for _, part in ipairs(JOB_PARTS) do gone[#gone + 1] = key .. part end
  note('completed', job.id, row[1])
end

-- What every outcome but completion writes: the claim is over, and so is the row of crashes.
local function end_claim(job, ...)
  local key = root .. 'job:' .. job.id
  redis.call('HSET', key, 'claim', ARGV[job.at + 3] .. '!', ...)
  if job.row[8] then redis.call('HDEL', key, 'crashes') end
end

local function wait_until(job, due)
  put_scheduled(job.id, due)
  note('scheduled', job.id, job.row[1])
end

local function uncount(job)
  redis.call('HSET', root .. 'job:' .. job.id, 'returned', (tonumber(job.row[10]) or 0) + 1)
end

-- A job that was begun has been started in time.
local function expires_no_more(job)
  redis.call('HDEL', root .. 'job:' .. job.id, 'expires', 'expires_in')
end

local function write_failure(job, state, text, history)
  if history == '' then
    end_claim(job, 'state', state, 'last_error', text)
  else
    end_claim(job, 'state', state, 'last_error', text, 'failures', history)
  end
  if job.row[9] then redis.call('HDEL', root .. 'job:' .. job.id, 'unknown') end
end

local function bury(job, text, history)
  local row = job.row
  write_failure(job, 'dead', text, history)
  redis.call('ZADD', dead, 0, job.id)
  redis.call('ZADD', dead_at, now, job.id)
  count(failed_count, 1)
  if row[5] then child_died(job.id, row[5], row[6], row[7], text) end
  occurrence_ended(job.id, row[11], 'dead')
  unique_end(job.id, row[12])
  note('dead', job.id, row[1])
end

local function snooze(job, due, unknown)
  end_claim(job, 'state', 'scheduled')
  if unknown then
    redis.call('HSETNX', root .. 'job:' .. job.id, 'unknown', now)
  else
    redis.call('HDEL', root .. 'job:' .. job.id, 'unknown', 'expires', 'expires_in')
  end
  uncount(job)
  wait_until(job, due)
end

local function write_outcome(job, gone)
  local kind, ms, text, history = ARGV[job.at], tonumber(ARGV[job.at + 4]), ARGV[job.at + 5], ARGV[job.at + 6]
  if kind == 'C' then
    complete(job, text, ms, gone)
  elseif kind == 'B' or kind == 'N' then
    bury(job, text, history)
    if kind == 'N' then pause_for_want_of_handler(job.id, job.row[11], text) end
  elseif kind == 'P' then
    end_claim(job, 'state', 'pending')
    uncount(job)
    if not park_struck(job.id, text, job.row[12]) then put_waiting(job.id, job.row[4], job.row[12]) end
    note('returned', job.id, job.row[1])
  elseif kind == 'H' or kind == 'h' then
    end_claim(job, 'state', 'pending')
    if kind == 'h' then expires_no_more(job) end
    uncount(job)
    put_waiting(job.id, job.row[4], job.row[12])
    note('returned', job.id, job.row[1])
  elseif kind == 'A' then
    snooze(job, ms)
  elseif kind == 'S' or kind == 'U' then
    snooze(job, due_after(ms), kind == 'U')
  else
    write_failure(job, 'scheduled', text, history)
    if kind == 'r' then uncount(job) end
    wait_until(job, due_after(ms))
  end
end

-- The first write frees memory (or at least needs none), so that a full server can be emptied.
local function settle_all(plan)
  if #plan.released > 0 then redis.call('ZREM', active, unpack(plan.released)) end
  local gone, done = {}, 0
  for _, job in ipairs(plan.taken) do
    local group = job.row[4]
    local ours = true
    if job.active then
      if group then free_lane_slot(group) end
      if job.row[13] then leave_gates(job.id, job.row[13], ARGV[job.at] == 'C') end
    else
      ours = take_waiting(job.id, group)
    end
    if ours then
      write_outcome(job, gone)
      if ARGV[job.at] == 'C' then done = done + 1 end
    else
      plan.verdicts[job.index] = '3'
    end
  end
  for first = 1, #gone, 1000 do redis.call('DEL', unpack(gone, first, math.min(first + 999, #gone))) end
  if done > 0 then count(completed_count, done) end
  settle_down()
  return table.concat(plan.verdicts), #plan.taken > 0
end
