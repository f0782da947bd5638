-- The clock reading of a sorted set: `schedule`, scored by due time.
--! needs schedule clock
local scheduled_ids = {}

local function put_scheduled(id, due)
  redis.call('ZADD', schedule, due, id)
  scheduled_ids[id] = true
end

-- Nudge the watcher if what it sleeps until has come nearer.
local function nudge_watcher()
  if next(scheduled_ids) == nil then return end
  local head = redis.call('ZRANGE', schedule, 0, 0)[1]
  if scheduled_ids[head] and redis.call('LLEN', clock) == 0 then redis.call('LPUSH', clock, '1') end
end

local function next_due()
  return redis.call('ZRANGE', schedule, 0, 0, 'WITHSCORES')[2] or ''
end
