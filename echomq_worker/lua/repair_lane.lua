-- Set the count of a lane's active jobs to the truth, and put the lane into the ring if it can be
-- served. Looks first, so that it may be repeated.
--
--! keys root active
--! args lane
--! include lanes lane_truth side
--
-- Replies 1 if anything was changed, else 0.

local wrong = wrong_type({ active, 'zset', lane_key(lane), 'zset' }) or wrong_side_key()
if wrong then return wrong end
local truth = count_actives()
local before = redis.call('HGET', lane_actives, lane)
local was_in_ring = redis.call('LPOS', lane_ring, lane)
local changed = 0
if truth and (tonumber(before) or 0) ~= (truth[lane] or 0) then
  changed = 1
  redis.call('HDEL', lane_actives, lane)
  if truth[lane] then redis.call('HSET', lane_actives, lane, truth[lane]) end
end
ring_backlog(lane)
if not was_in_ring and redis.call('LPOS', lane_ring, lane) then changed = 1 end
return changed
