-- What the end of a job means for the scheduler that has made it: its note of the occurrence is
-- completed, and an occurrence that has been held back for its sake may fire at once.
-- A scheduler that is gone, or a key of a foreign type, is no reason to stop a settlement.
--! needs root
--! include time
local function fire_held(name, key)
  local held = redis.pcall('HMGET', key, 'held', 'paused')
  if not held[1] or held[2] then return end
  redis.pcall('ZADD', root .. 'schedulers', 'XX', now, name)
  if redis.pcall('LLEN', root .. 'clock') == 0 then redis.pcall('LPUSH', root .. 'clock', '1') end
end

-- To be called while the row is there.
local function occurrence_ended(id, name, outcome)
  if not name then return end
  local key = root .. 'scheduler:' .. name
  local run = 'run:' .. (redis.call('HGET', root .. 'job:' .. id, 'instant') or '')
  local noted = redis.pcall('HGET', key, run)
  if type(noted) == 'string' and string.sub(noted, 1, #id) == id then
    redis.call('HSET', key, run, string.format('%s %s %.0f', id, outcome, now))
  end
  fire_held(name, key)
end

-- Stop a scheduler whose jobs find no handler, unless its template names another one by now.
local function pause_for_want_of_handler(id, name, reason)
  local key = root .. 'scheduler:' .. (name or '')
  local found = redis.pcall('HMGET', key, 'digest', 'paused', 'name')
  if not name or not found[1] or found[2] then return end
  if found[3] ~= redis.call('HGET', root .. 'job:' .. id, 'name') then return end
  redis.call('HSET', key, 'paused', reason, 'paused_at', now, 'paused_by', 'worker')
  redis.pcall('ZADD', root .. 'schedulers', 'XX', '+inf', name)
end
