-- Fire the repeating registrations of the base wire that are due: each becomes a raw job in `pending`,
-- and its next time is one interval later, on its own grid and beyond now (what was missed meanwhile
-- is one job). A registration whose record cannot be used is moved out of the way, with a note in
-- quarantine, and kept for a week. Safe to repeat: what has fired is no longer due.
--
--! keys root pending bell log
--! args log_size
--! rest ids
--! include time waiting log quarantine side repeats
--
-- `ids`: fresh ids for the jobs; no more registrations than ids are fired, and an id that is taken is
-- passed over. Replies { now, the next time of all, name and id of each that fired, name and reason of
-- each that was moved }.

local wrong = wrong_type({ registry, 'zset', pending, 'zset', bell, 'list' }) or wrong_side_key() or wrong_log()
if wrong then return wrong end
for at = ids, #ARGV do
  if not job_id(ARGV[at]) then return redis.error_reply('EMQKIND job id must be JOB-namespaced') end
end

local due = redis.call('ZRANGEBYSCORE', registry, '-inf', now, 'WITHSCORES', 'LIMIT', 0, #ARGV - ids + 1)
local at = ids
local function fresh_id()
  while at <= #ARGV do
    at = at + 1
    if redis.call('EXISTS', root .. 'job:' .. ARGV[at - 1]) == 0 then return ARGV[at - 1] end
  end
  return nil
end

-- A time that no arithmetic holds for (endless, or too far off) begins a grid of its own.
local function following(last, every)
  local later = last + every * (math.floor((now - last) / every) + 1)
  if later > now and later <= now + every then return later end
  return now + every
end

local function move_aside(name, reason)
  local aside = root .. 'aside:repeat:' .. name
  write_fault('repeat:' .. name, reason, {})
  redis.call('ZREM', registry, name)
  if redis.call('EXISTS', record_of(name)) == 1 then
    redis.call('RENAME', record_of(name), aside)
    redis.call('PEXPIRE', aside, KEPT_MS)
  end
end

local fired, moved = {}, {}
for i = 1, #due, 2 do
  local name = due[i]
  local record = redis.pcall('HMGET', record_of(name), 'every_ms', 'template')
  local every, problem = interval_of(record)
  if problem then
    move_aside(name, problem)
    moved[#moved + 1] = name
    moved[#moved + 1] = problem
  else
    local id = fresh_id()
    if not id then break end
    redis.call('HSET', root .. 'job:' .. id, 'state', 'pending', 'attempts', '0', 'payload', record[2])
    redis.call('ZADD', registry, following(tonumber(due[i + 1]), every), name)
    put_waiting(id)
    note('enqueued', id, 0)
    fired[#fired + 1] = name
    fired[#fired + 1] = id
  end
end
settle_down()
return { now, redis.call('ZRANGE', registry, 0, 0, 'WITHSCORES')[2] or '', fired, moved }
