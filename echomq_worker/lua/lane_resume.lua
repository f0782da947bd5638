-- Serve a paused lane again: it comes into the rotation at the tail. Safe to repeat.
--
--! keys root bell
--! args lane
--! include lane_work side
--
-- Replies 1, or 0 if it was not paused.

local wrong = wrong_type({ bell, 'list' }) or wrong_side_key() or wrong_lane(lane)
if wrong then return wrong end

local was_paused = redis.call('SREM', root .. 'paused', lane)
redis.call('HDEL', root .. 'lane:pauses', lane)
serve_lane(lane, was_paused == 1)
return was_paused
