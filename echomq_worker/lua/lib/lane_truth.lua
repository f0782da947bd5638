-- How many jobs of each lane are active, counted; nil if there are too many to count at one moment.
--! needs root active
local COUNTABLE = 2000

local function count_actives()
  local size = redis.pcall('ZCARD', active)
  if type(size) ~= 'number' or size > COUNTABLE then return nil end
  local counts = {}
  for _, id in ipairs(redis.call('ZRANGE', active, 0, -1)) do
    local group = redis.pcall('HGET', root .. 'job:' .. id, 'group')
    if type(group) == 'string' then counts[group] = (counts[group] or 0) + 1 end
  end
  return counts
end
