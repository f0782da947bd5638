-- Take back what leases have run out: to where it waits, or to `dead` when a limit is reached.
-- `counter` is the field that counts (`crashes`, reset by any settlement; or the peers' `stalled`).
--! needs root active dead dead_at failed_count
--! include time waiting gates unique quarantine flow count log occurrence
local function read_losses(ids, counter)
  local expired = { ids = ids, rows = {} }
  for i, id in ipairs(ids) do
    expired.rows[i] = redis.pcall('HMGET', root .. 'job:' .. id, 'attempts', 'payload', 'group', 'parent',
      'parent_queue', 'parent_policy', 'lock', 'max', 'returned', counter, 'scheduler', 'more', 'slots')
  end
  return expired
end

local function read_expired(limit, counter)
  if limit == 0 then return { ids = {}, rows = {} } end
  return read_losses(redis.call('ZRANGEBYSCORE', active, '-inf', now, 'LIMIT', 0, limit), counter)
end

local function lost_too_often(row, losses, bury_at, max_attempts)
  if bury_at > 0 and losses >= bury_at then
    return string.format('the lease was lost %d times in a row', losses)
  end
  local max = tonumber(row[8]) or 0
  if max == 0 then max = max_attempts end
  local counted = row[1] - (tonumber(row[9]) or 0)
  if max > 0 and counted >= max then
    return string.format('the lease was lost in attempt %d of %d', counted, max)
  end
  return nil
end

local function bury_lost(id, row, reason)
  redis.call('HSET', root .. 'job:' .. id, 'state', 'dead', 'last_error', reason)
  redis.call('ZADD', dead, 0, id)
  redis.call('ZADD', dead_at, now, id)
  count(failed_count, 1)
  if row[4] then child_died(id, row[4], row[5], row[6], reason) end
  occurrence_ended(id, row[11], 'dead')
  unique_end(id, row[12])
  note('dead', id, row[1])
end

-- Count the loss, and bury the job for it or let it wait again; true if it was buried.
local function take_back(id, row, counter, bury_at, max_attempts, stalled_text)
  local key = root .. 'job:' .. id
  if row[7] then redis.call('HDEL', key, 'lock') end
  local losses = counter ~= '' and (tonumber(row[10]) or 0) + 1 or 0
  if counter ~= '' then redis.call('HSET', key, counter, losses) end
  local reason = lost_too_often(row, losses, bury_at, max_attempts)
  if reason then
    bury_lost(id, row, stalled_text or reason)
    return true
  end
  redis.call('HSET', key, 'state', 'pending')
  put_waiting(id, row[3], row[12])
  note('recovered', id, row[1])
  return false
end

-- Returns the ids that wait again and the ids that were buried.
local function reap(expired, ...)
  local recovered, buried = {}, {}
  if #expired.ids == 0 then return recovered, buried end
  redis.call('ZREM', active, unpack(expired.ids))
  for i, id in ipairs(expired.ids) do
    local row = expired.rows[i]
    local fault = row_fault(row)
    if row[3] then free_lane_slot(row[3]) end
    if row[13] then leave_gates(id, row[13]) end
    if fault then
      set_aside(id, fault)
    elseif take_back(id, row, ...) then
      buried[#buried + 1] = id
    else
      recovered[#recovered + 1] = id
    end
  end
  settle_down()
  return recovered, buried
end
