-- Where a job waits to be claimed: `pending`, or its lane. Flat arrivals are collected and
-- written together by `settle_down`, which also rings the bell for them.
--! needs root pending
--! include lanes bell
local arrivals = {}

local function put_waiting(id, group)
  if group and type(redis.pcall('ZADD', lane_key(group), 0, id)) == 'number' then
    ring_lane(group)
  else
    arrivals[#arrivals + 1] = 0
    arrivals[#arrivals + 1] = id
  end
end

-- Take a job from where it waits; true if it waited.
local function take_waiting(id, group)
  if group and redis.pcall('ZREM', lane_key(group), id) == 1 then
    if redis.call('ZCARD', lane_key(group)) == 0 then redis.call('LREM', lane_ring, 0, group) end
    return true
  end
  return redis.call('ZREM', pending, id) == 1
end

-- Take back an arrival that is not written down yet.
local function forget_arrival(id)
  for i = 2, #arrivals, 2 do
    if arrivals[i] == id then
      table.remove(arrivals, i)
      table.remove(arrivals, i - 1)
      return
    end
  end
end

local function settle_down()
  if #arrivals == 0 then return end
  redis.call('ZADD', pending, unpack(arrivals))
  ring_bell(#arrivals / 2)
  arrivals = {}
end
