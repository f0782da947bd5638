-- Say how many jobs of a lane may be active at once; '' lets any number be. Safe to repeat.
--
--! keys root bell
--! args lane name ceiling
--! include lane_work lane_name side
--
-- `name` is what the lane was made from, or ''. Replies 1.

if ceiling ~= '' and not whole(ceiling, 1) then return bad_argument('ceiling') end
local wrong = wrong_type({ bell, 'list' }) or wrong_side_key() or wrong_lane(lane)
if wrong then return wrong end

local before, busy = lane_ceiling(lane), lane_active(lane)
-- The first write frees memory, so that lanes of a full server can be limited.
redis.call('HDEL', root .. 'glimit', lane)
if ceiling ~= '' then
  redis.call('HSET', root .. 'glimit', lane, ceiling)
  keep_lane_name(lane, name)
end
if ceiling ~= '' and busy >= tonumber(ceiling) then
  redis.call('LREM', lane_ring, 0, lane)
else
  serve_lane(lane, before and busy >= before)
end
return 1
