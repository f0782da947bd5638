-- Say how many jobs may wait in a lane, and what becomes of one that is enqueued when so many do: `refuse`, or
-- `drop` the oldest for it. '' lets any number wait. What waits already stays. Safe to repeat.
--
--! keys root
--! args lane name most on_full
--! include lane_name side
--
-- `name` is what the lane was made from, or ''. Replies 1.

if most ~= '' and not whole(most, 1) then return bad_argument('most') end
if on_full ~= 'refuse' and on_full ~= 'drop' then return bad_argument('on_full') end
local wrong = wrong_side_key()
if wrong then return wrong end

redis.call('HDEL', root .. 'gmax', lane)
if most ~= '' then
  redis.call('HSET', root .. 'gmax', lane, most .. ' ' .. on_full)
  keep_lane_name(lane, name)
end
return 1
