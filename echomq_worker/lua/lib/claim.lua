-- Put what is next under a lease. The attempt number goes up and is the wire's token; the
-- claim id, made by the caller, makes it unforgeable. A caller without one clears the field, so
-- that its absence counts as a value.
--! needs root pending active bell clock lanes
--! include time quarantine ready gates unique bell log check
local CLAIM_FIELDS = {
  'attempts', 'payload', 'name', 'max', 'returned', 'crashes', 'failures', 'unknown', 'keep', 'group', 'more',
  'slots',
}
local MORE, SLOTS = 11, 12
-- What few jobs have, and who has any of it says so by the field `more`: looking costs time.
local MORE_FIELDS = { 'timeout', 'backoff', 'expires', 'scheduler', 'instant', 'priority', 'lane' }

-- Put the id before a row, and MORE_FIELDS behind it if it has any. Its slots are our own affair.
local function as_handed_out(id, row)
  local more = row[MORE]
  row[SLOTS], row[MORE] = nil, nil
  if more then
    for _, value in ipairs(redis.call('HMGET', root .. 'job:' .. id, unpack(MORE_FIELDS))) do
      row[#row + 1] = value
    end
  end
  table.insert(row, 1, id)
  return row
end

local function lease_out(id, row, claim, gates)
  local key = root .. 'job:' .. id
  row[1] = row[1] + 1
  local fields = { 'state', 'active', 'attempts', row[1] }
  if claim ~= '' then fields[5], fields[6] = 'claim', claim end
  local slots = gates and pass_gates(gates, id, row[1]) or ''
  if slots ~= '' then fields[#fields + 1], fields[#fields + 2] = 'slots', slots end
  redis.call('HSET', key, unpack(fields))
  if claim == '' then redis.call('HDEL', key, 'claim') end
  if row[10] then
    take_lane_slot(row[10])
    charge_lane(row[10], id, row[1])
  end
  unique_start(id, row[MORE])
  note('claimed', id, row[1])
  return as_handed_out(id, row)
end

-- Returns the gate that keeps a job back, or nil and the gates that it passes. Slots that it still has
-- were left by a runtime that knows nothing of them.
local function gates_before(id, row)
  if row[SLOTS] then leave_gates(id, row[SLOTS]) end
  return find_gates(row[3], row[MORE] and redis.call('HGET', root .. 'job:' .. id, 'key'))
end

-- Returns the jobs, each as its id, CLAIM_FIELDS without the last two, and perhaps MORE_FIELDS. `source` gives
-- them, instead of all that is ready.
local function claim_ready(limit, lease_ms, claim, source)
  local jobs, leases = {}, {}
  if limit == 0 then return jobs end
  local give = source or hand_out
  give(limit, function(popped, wanted)
    for i = 1, #popped, 2 do
      local id = popped[i]
      local row = redis.pcall('HMGET', root .. 'job:' .. id, unpack(CLAIM_FIELDS))
      local fault = row_fault(row) or (not job_id(id) and 'the id is not a branded job id')
      local gate, gates
      if gated and not fault then gate, gates = gates_before(id, row) end
      if fault then
        set_aside(id, fault)
      elseif not gate or not park(id, popped[i + 1], gate) then
        jobs[#jobs + 1] = lease_out(id, row, claim, gates)
        leases[#leases + 1] = now + lease_ms
        leases[#leases + 1] = id
        wanted = wanted - 1
      end
    end
    return wanted
  end)
  if #leases > 0 then redis.call('ZADD', active, unpack(leases)) end
  return jobs
end

-- A claim that leaves work behind rings once more (a chain); one that finds nothing, or a paused queue,
-- silences the bell. A call that had no room to claim sees to it that somebody is told.
local function pass_on(wanted, left, paused)
  if left == 0 or paused then
    if wanted > 0 then redis.call('DEL', bell) end
  elseif wanted > 0 or redis.call('LLEN', bell) == 0 then
    ring_bell(1)
  end
end
