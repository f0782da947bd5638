-- Remove at most `limit` of the jobs that wait in a lane, up to the id `last`, the oldest first, with all that
-- belongs to them; their parents and occurrences are told. What runs, is due later or is dead stays. To be
-- called until it removes none; what has come since is not touched.
--
--! keys root pending dead dead_at bell log
--! args lane last limit log_size
--! include removal side check
--
-- Replies how many were removed.

if not whole(limit, 1) then return bad_argument('limit') end
local wrong = wrong_type({ pending, 'zset', dead, 'zset', dead_at, 'zset', bell, 'list' })
  or wrong_side_key() or wrong_lane(lane) or wrong_log()
if wrong then return wrong end

local ids = redis.call('ZRANGE', lane_key(lane), '-', '[' .. last, 'BYLEX', 'LIMIT', 0, limit)
if #ids == 0 then return 0 end
redis.call('ZREM', lane_key(lane), unpack(ids))
if redis.call('ZCARD', lane_key(lane)) == 0 then redis.call('LREM', lane_ring, 0, lane) end
remove_jobs(ids)
settle_down()
return #ids
