-- Set when a scheduler fires next, and nudge the watcher if that is nearer than what it sleeps until.
--! needs schedulers clock
local function wake_at(name, wake)
  local head = redis.call('ZRANGE', schedulers, 0, 0, 'WITHSCORES')[2]
  redis.call('ZADD', schedulers, wake, name)
  if wake == '+inf' then return end
  local nearer = not head or head == 'inf' or tonumber(wake) < tonumber(head)
  if nearer and redis.call('LLEN', clock) == 0 then redis.call('LPUSH', clock, '1') end
end
