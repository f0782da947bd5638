-- Remove at most `limit` of the jobs that wait in a lane, the oldest first, with all that belongs to them; their
-- parents and occurrences are told. What runs, is due later or is dead stays. To be called until none is left.
--
--! keys root pending dead dead_at bell log
--! args lane limit log_size
--! include removal side check
--
-- Replies { removed, left }.

if not whole(limit, 1) then return bad_argument('limit') end
local wrong = wrong_type({ pending, 'zset', dead, 'zset', dead_at, 'zset', bell, 'list' })
  or wrong_side_key() or wrong_lane(lane) or wrong_log()
if wrong then return wrong end

local popped = redis.call('ZPOPMIN', lane_key(lane), limit)
if redis.call('ZCARD', lane_key(lane)) == 0 then redis.call('LREM', lane_ring, 0, lane) end
local ids = {}
for i = 1, #popped, 2 do ids[#ids + 1] = popped[i] end
remove_jobs(ids)
settle_down()
return { #ids, redis.call('ZCARD', lane_key(lane)) }
