-- Serve a lane before those that do not go first, or like them again. Lanes that go first take turns among
-- themselves. Safe to repeat.
--
--! keys root
--! args lane name first
--! include lanes lane_name side
--
-- `first` is 1 or 0, `name` what the lane was made from, or ''. Replies 1, or 0 if it was so before.

if first ~= '1' and first ~= '0' then return bad_argument('first') end
local wrong = wrong_side_key()
if wrong then return wrong end

local changed
if first == '1' then
  changed = redis.call('SADD', root .. 'lane:first', lane)
  keep_lane_name(lane, name)
else
  changed = redis.call('SREM', root .. 'lane:first', lane)
end
if redis.call('LREM', lane_ring, 0, lane) > 0 then put_on_ring(lane) end
return changed
