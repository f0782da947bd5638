-- Say how often jobs of a lane may start, by a rule as put_limit.lua has it; '' takes the rate away. Safe to
-- repeat: the same rule again changes nothing.
--
--! keys root pending active bell clock
--! args lane name rule
--! include time waiting gates lane_name side check
--
-- `name` is what the lane was made from, or ''. Replies 1, or 0 if it was so before.

local wrong = wrong_type({ pending, 'zset', active, 'zset', bell, 'list', clock, 'list' }) or wrong_side_key()
if wrong then return wrong end

local rates, gate = root .. 'grate', 'rate:lane:' .. lane
local before = redis.call('HGET', rates, lane) or ''
if before == rule then return 0 end
redis.call('HDEL', rates, lane)
if rule ~= '' then
  redis.call('HSET', rates, lane, rule)
  keep_lane_name(lane, name)
end
-- What has started counts on under another rule of the same kind.
if string.match(before, '%l+$') ~= string.match(rule, '%l+$') then redis.call('DEL', root .. gate) end
ask_gates_again(gate)
return 1
