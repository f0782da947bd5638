-- Where a job waits to be claimed: its lane, `prioritized`, or `pending`. Flat arrivals are collected and
-- written together by `settle_down`, which also rings the bell for all that has come.
--! needs root pending
--! include lanes priority bell
local put_waiting, take_waiting, forget_arrival, settle_down
do
  local arrivals = {}
  local heard = 0

  -- The name that a lane was made from is written down when it is the first to wait there.
  local function name_lane(id, group)
    local name = redis.call('HGET', root .. 'job:' .. id, 'lane')
    if name then redis.call('HSET', root .. 'lane:names', group, name) end
  end

  local function put_in_lane(id, group, more)
    local key = lane_key(group)
    if type(redis.pcall('ZADD', key, 0, id)) ~= 'number' then return false end
    local first = redis.call('ZCARD', key) == 1
    if first and more then name_lane(id, group) end
    if ring_lane(group, first) then heard = heard + 1 end
    return true
  end

  -- `more`: whether the row says that it has fields that few have, such as a priority.
  function put_waiting(id, group, more)
    if group and put_in_lane(id, group, more) then return end
    if more and put_by_priority(id) then
      heard = heard + 1
    else
      arrivals[#arrivals + 1] = 0
      arrivals[#arrivals + 1] = id
    end
  end

  -- Take a job from where it waits; true if it waited.
  function take_waiting(id, group)
    if group and redis.pcall('ZREM', lane_key(group), id) == 1 then
      if redis.call('ZCARD', lane_key(group)) == 0 then redis.call('LREM', lane_ring, 0, group) end
      return true
    end
    if redis.call('ZREM', pending, id) == 1 or redis.call('ZREM', prioritized, id) == 1 then return true end
    local gate = redis.pcall('HGET', root .. 'job:' .. id, 'held')
    return type(gate) == 'string' and redis.pcall('ZREM', root .. 'parked:' .. gate, id) == 1
  end

  -- Take back an arrival that is not written down yet.
  function forget_arrival(id)
    for i = 2, #arrivals, 2 do
      if arrivals[i] == id then
        table.remove(arrivals, i)
        table.remove(arrivals, i - 1)
        return
      end
    end
  end

  function settle_down()
    if #arrivals > 0 then redis.call('ZADD', pending, unpack(arrivals)) end
    ring_bell(#arrivals / 2 + heard)
    arrivals, heard = {}, 0
  end
end
