-- Say how many jobs of a lane are served when it is its turn; '' means one. Safe to repeat.
--
--! keys root
--! args lane name weight
--! include lane_name side
--
-- `name` is what the lane was made from, or ''. Replies 1.

if weight ~= '' and not whole(weight, 1) then return bad_argument('weight') end
local wrong = wrong_side_key()
if wrong then return wrong end

redis.call('HDEL', root .. 'gweight', lane)
redis.call('HDEL', root .. 'gcredit', lane)
if weight ~= '' then
  redis.call('HSET', root .. 'gweight', lane, weight)
  keep_lane_name(lane, name)
end
return 1
