-- Take back what leases have run out: to where it waits, or to `dead` when a limit is reached.
-- `counter` is the field that counts (`crashes`, reset by any settlement; or the peers' `stalled`).
--! needs root active dead dead_at failed_count
--! include time waiting quarantine flow log
local function lost_too_often(row, count, bury_at, max_attempts)
  if bury_at > 0 and count >= bury_at then
    return string.format('the lease was lost %d times in a row', count)
  end
  local max = tonumber(row[8]) or max_attempts
  local counted = row[1] - (tonumber(row[9]) or 0)
  if max_attempts > 0 and counted >= max then
    return string.format('the lease was lost in attempt %d of %d', counted, max)
  end
  return nil
end

local function bury_lost(id, row, reason)
  redis.call('HSET', root .. 'job:' .. id, 'state', 'dead', 'last_error', reason)
  redis.call('ZADD', dead, 0, id)
  redis.call('ZADD', dead_at, now, id)
  redis.call('HINCRBY', failed_count, 'count', 1)
  if row[3] then ring_backlog(row[3]) end
  if row[4] then child_died(id, row[4], row[5], row[6], reason) end
  note('dead', id, row[1])
end

-- Returns the ids that wait again and the ids that were buried.
local function reap_expired(limit, counter, bury_at, max_attempts, stalled_text)
  local recovered, buried = {}, {}
  if limit == 0 then return recovered, buried end
  local ids = redis.call('ZRANGEBYSCORE', active, '-inf', now, 'LIMIT', 0, limit)
  if #ids == 0 then return recovered, buried end
  redis.call('ZREM', active, unpack(ids))
  for _, id in ipairs(ids) do
    local key = root .. 'job:' .. id
    local row = redis.pcall('HMGET', key, 'attempts', 'payload', 'group', 'parent', 'parent_queue',
      'parent_policy', 'lock', 'max', 'returned')
    local fault = row_fault(row)
    if not row.err and row[3] then free_lane_slot(row[3]) end
    if fault then
      set_aside(id, fault)
    else
      if row[7] then redis.call('HDEL', key, 'lock') end
      local count = counter ~= '' and redis.call('HINCRBY', key, counter, 1) or 0
      local reason = lost_too_often(row, count, bury_at, max_attempts)
      if reason then
        bury_lost(id, row, stalled_text or reason)
        buried[#buried + 1] = id
      else
        redis.call('HSET', key, 'state', 'pending')
        put_waiting(id, row[3])
        note('recovered', id, row[1])
        recovered[#recovered + 1] = id
      end
    end
  end
  settle_down()
  return recovered, buried
end
