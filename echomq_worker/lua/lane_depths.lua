-- How many jobs wait in some lanes. Reads only.
--
--! keys root
--! args
--! rest lanes
--! include check
--
-- Replies a number each.

local depths = {}
for at = lanes, #ARGV do
  local waiting = redis.pcall('ZCARD', root .. 'g:' .. ARGV[at] .. ':pending')
  depths[#depths + 1] = type(waiting) == 'number' and waiting or 0
end
return depths
