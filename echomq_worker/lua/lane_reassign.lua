-- Let a waiting job wait in another lane, in mint order there. `name` is what the lane was made from, or ''.
-- A job that is in no lane is moved only if `flat` is 1; it has no priority any more then. Safe to repeat.
--
--! keys root pending bell log
--! args id lane name flat log_size
--! include waiting parking side log check
--
-- Replies 1 moved, 0 it is in that lane, -1 no such job or in no lane, -2 it does not wait.

local wrong = wrong_type({ pending, 'zset', bell, 'list' }) or wrong_side_key() or wrong_log()
if wrong then return wrong end
local row = root .. 'job:' .. id
local fields = redis.pcall('HMGET', row, 'attempts', 'group', 'held')
if fields.err or not fields[1] then return -1 end
local group = fields[2]
if not group and flat ~= '1' then return -1 end
if group == lane then return 0 end
wrong = wrong_lane(lane) or wrong_lane(group)
if wrong then return wrong end

local kept = is_kept(fields[3])
if not kept and not take_waiting(id, group) then return -2 end
redis.call('HDEL', row, 'priority', 'arrival', 'lane')
redis.call('HSET', row, 'group', lane)
if name ~= '' then redis.call('HSET', row, 'lane', name, 'more', '1') end
if not kept then
  redis.call('HDEL', row, 'held')
  put_waiting(id, lane, name ~= '')
end
settle_down()
note('reassigned', id, fields[1])
return 1
