-- Stop serving a lane. Its jobs keep their places, running ones go on, and jobs are still taken in. Safe to
-- repeat: the newest note stands.
--
--! keys root
--! args lane name note
--! include time lanes lane_name side
--
-- `name` is what the lane was made from, or ''. Replies 1, or 0 if it was paused before.

local wrong = wrong_side_key() or wrong_lane(lane)
if wrong then return wrong end

-- The first write frees memory, so that lanes of a full server can be paused.
redis.call('LREM', lane_ring, 0, lane)
local added = redis.call('SADD', root .. 'paused', lane)
redis.call('HSET', root .. 'lane:pauses', lane, string.format('%.0f', now) .. ' ' .. note)
keep_lane_name(lane, name)
return added
