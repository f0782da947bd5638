-- Remove a job for good, from one of the places named: `waiting` (pending, lane, schedule), `dead`, or
-- `any` of these. A job that is held is not removed. A parent that waits for it is told. Repeatable: the
-- same call gets the same answer.
--
--! keys root pending active schedule dead dead_at bell log
--! args caller call_number again id dedup places log_size
--! include time receipt flow side log check occurrence unique
--
-- `dedup` is the deduplication id to release if it names this job, or ''. What lies in `dead` without
-- a row is removed from there. Replies 1 removed, 0 gone, 2 elsewhere, 3 active, 4 locked.

local earlier = earlier_answer()
if earlier then return tonumber(earlier) end
if earlier == false then return redis.error_reply(refusal) end
local row = root .. 'job:' .. id
local wrong = wrong_type({
  pending, 'zset', active, 'zset', schedule, 'zset', dead, 'zset', dead_at, 'zset', bell, 'list',
  root .. 'de:' .. dedup, 'string',
}) or wrong_side_key() or wrong_log()
if wrong then return wrong end
local fields = redis.pcall('HMGET', row, 'attempts', 'group', 'parent', 'parent_queue', 'parent_policy', 'lock',
  'scheduler', 'more')
wrong = wrong_lane(fields[2])
if wrong then return wrong end

local is_dead = redis.call('ZSCORE', dead, id)

local function remove()
  if fields.err or redis.call('EXISTS', row) == 0 then
    if not is_dead or places == 'waiting' then return 0 end
    redis.call('ZREM', dead_at, id)
    return redis.call('ZREM', dead, id)
  end
  if fields[6] or redis.call('EXISTS', row .. ':lock') == 1 then return 4 end
  if redis.call('ZSCORE', active, id) then return 3 end
  if (is_dead and places == 'waiting') or (not is_dead and places == 'dead') then return 2 end

  redis.call('ZREM', dead, id)
  redis.call('ZREM', dead_at, id)
  redis.call('ZREM', schedule, id)
  take_waiting(id, fields[2])
  if fields[3] and not is_dead then child_died(id, fields[3], fields[4], fields[5], 'removed') end
  if dedup ~= '' and redis.call('GET', root .. 'de:' .. dedup) == id then redis.call('DEL', root .. 'de:' .. dedup) end
  if not is_dead then occurrence_ended(id, fields[7], 'removed') end
  unique_end(id, fields[8], true)
  redis.call('DEL', row, row .. ':logs', row .. ':lock', row .. ':dependencies', row .. ':processed',
    row .. ':failed', row .. ':unsuccessful')
  settle_down()
  note('removed', id, fields[1] or 0)
  return 1
end

local verdict = remove()
keep_answer(verdict, verdict == 1)
return verdict
