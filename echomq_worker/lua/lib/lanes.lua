-- Lanes of the base wire: who is in the rotation, and how many of a lane are active. A lane is in the
-- rotation exactly while it has work, is not paused and is below its ceiling; so whether it is there
-- already can be told from what has just changed, and a long ring need not be searched.
--! needs root
--! include check
local lane_ring = root .. 'ring'
local lane_actives = root .. 'gactive'
local WAKE_CAP = 63
local SEARCHED = 128

local function lane_key(group)
  return root .. 'g:' .. group .. ':pending'
end

-- For an operator's calls: those of workers go on without a lane that holds something else, since one
-- such key must not stop a queue (`put_waiting` lets its jobs wait in `pending`).
local checked_lanes = {}
local function wrong_lane(group)
  if not group or checked_lanes[group] then return nil end
  checked_lanes[group] = true
  return wrong_type({ lane_key(group), 'zset' })
end

local function lane_ceiling(group)
  return tonumber(redis.call('HGET', root .. 'glimit', group))
end

local function lane_active(group)
  return tonumber(redis.call('HGET', lane_actives, group)) or 0
end

-- Put a lane at the tail of the ring; one that goes first, behind the others of its kind at the head.
local preferred_lanes
local function put_on_ring(group)
  local first = root .. 'lane:first'
  if preferred_lanes == nil then preferred_lanes = tonumber(redis.pcall('SCARD', first)) or 0 end
  if preferred_lanes == 0 or redis.call('SISMEMBER', first, group) == 0 then
    redis.call('RPUSH', lane_ring, group)
    return
  end
  local last
  for _, other in ipairs(redis.call('LRANGE', lane_ring, 0, math.min(preferred_lanes, SEARCHED) - 1)) do
    if redis.call('SISMEMBER', first, other) == 0 then break end
    last = other
  end
  if last then
    redis.call('LINSERT', lane_ring, 'AFTER', last, group)
  else
    redis.call('LPUSH', lane_ring, group)
  end
end

-- A short ring is searched, which also mends what others have left wrong.
local function in_rotation(group, was_out)
  if redis.call('LLEN', lane_ring) > SEARCHED then return not was_out end
  return redis.call('LPOS', lane_ring, group)
end

-- Put a lane that has work into the rotation if it may be served and is not there, and tell a lane
-- consumer. `was_out`: what has just changed is why it was not there. Returns whether it is there now.
local function ring_lane(group, was_out)
  if in_rotation(group, was_out) then return true end
  if redis.call('SISMEMBER', root .. 'paused', group) == 1 then return false end
  local ceiling = lane_ceiling(group)
  if ceiling and lane_active(group) >= ceiling then return false end
  put_on_ring(group)
  redis.call('LPUSH', root .. 'wake', '1')
  redis.call('LTRIM', root .. 'wake', 0, WAKE_CAP)
  return true
end

local function ring_backlog(group, was_out)
  local backlog = redis.pcall('ZCARD', lane_key(group))
  if type(backlog) == 'number' and backlog > 0 then ring_lane(group, was_out) end
end

-- A job of the lane is no longer active. The slot may have been what the others waited for.
local function free_lane_slot(group)
  local left = redis.pcall('HINCRBY', lane_actives, group, -1)
  if type(left) ~= 'number' or left <= 0 then redis.call('HDEL', lane_actives, group) end
  local ceiling = lane_ceiling(group)
  ring_backlog(group, ceiling and type(left) == 'number' and left == ceiling - 1)
end

local function take_lane_slot(group)
  local taken = redis.pcall('HINCRBY', lane_actives, group, 1)
  if type(taken) ~= 'number' then redis.call('HSET', lane_actives, group, 1) end
end
