-- When the next scheduler, or the next registration of the base wire, is to fire. One that has no beginning is
-- due as any other: it must not hide those behind it.
--! needs root
local function next_fire()
  local first = redis.pcall('ZRANGE', root .. 'schedulers', 0, 0, 'WITHSCORES')[2]
  local repeated = redis.pcall('ZRANGE', root .. 'repeat', 0, 0, 'WITHSCORES')[2]
  if first and repeated then first = tonumber(first) <= tonumber(repeated) and first or repeated end
  first = first or repeated or ''
  return first == '-inf' and '0' or first
end
