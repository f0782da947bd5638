-- When the next scheduler, or the next registration of the base wire, is to fire.
--! needs root
local function next_fire()
  local first = redis.pcall('ZRANGE', root .. 'schedulers', 0, 0, 'WITHSCORES')[2]
  local repeated = redis.pcall('ZRANGE', root .. 'repeat', 0, 0, 'WITHSCORES')[2]
  if first and repeated then return tonumber(first) <= tonumber(repeated) and first or repeated end
  return first or repeated or ''
end
