-- Lanes of the base wire: who is in the rotation, and how many of a lane are active.
--! needs root
--! include check
local lane_ring = root .. 'ring'
local lane_actives = root .. 'gactive'
local WAKE_CAP = 63

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

-- Put a lane into the rotation if it may be served and is not there, and tell a lane consumer.
local function ring_lane(group)
  if redis.call('SISMEMBER', root .. 'paused', group) == 1 then return end
  local ceiling = tonumber(redis.call('HGET', root .. 'glimit', group))
  if ceiling and (tonumber(redis.call('HGET', lane_actives, group)) or 0) >= ceiling then return end
  if redis.call('LPOS', lane_ring, group) then return end
  redis.call('RPUSH', lane_ring, group)
  redis.call('LPUSH', root .. 'wake', '1')
  redis.call('LTRIM', root .. 'wake', 0, WAKE_CAP)
end

local function free_lane_slot(group)
  local left = redis.pcall('HINCRBY', lane_actives, group, -1)
  if type(left) ~= 'number' or left <= 0 then redis.call('HDEL', lane_actives, group) end
end

local function take_lane_slot(group)
  local taken = redis.pcall('HINCRBY', lane_actives, group, 1)
  if type(taken) ~= 'number' then redis.call('HSET', lane_actives, group, 1) end
end

local function ring_backlog(group)
  local backlog = redis.pcall('ZCARD', lane_key(group))
  if type(backlog) == 'number' and backlog > 0 then ring_lane(group) end
end
