-- The clock reading of a sorted set: `schedule`, scored by due time.
--! needs root schedule clock
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

-- When the next job is due, or the next gate opens.
local function next_due()
  local due = redis.call('ZRANGE', schedule, 0, 0, 'WITHSCORES')[2] or ''
  local opens = redis.pcall('ZRANGE', root .. 'gates', 0, 0, 'WITHSCORES')[2] or '+inf'
  if opens ~= 'inf' and opens ~= '+inf' and (due == '' or tonumber(opens) < tonumber(due)) then return opens end
  return due
end
