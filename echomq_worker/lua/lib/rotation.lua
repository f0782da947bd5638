-- Claims from lanes: whose turn it is, and how many jobs a turn is worth. A lane that is served is taken
-- from the head of the ring and goes back to its tail, so no turn costs more with many lanes.
--! needs root
--! include lanes gates
local lane_credit = root .. 'gcredit'
local STALE, TURNS = 64, 1000
local turns_taken = 0

-- How many more jobs of a lane may be active.
local function lane_room(group)
  if redis.call('SISMEMBER', root .. 'paused', group) == 1 then return 0 end
  local ceiling = lane_ceiling(group)
  return ceiling and math.max(0, ceiling - lane_active(group)) or math.huge
end

local function lane_rate(group)
  local rule = gated and limit_of('rate', 'lane:' .. group)
  return rule and rate_of('rate:lane:' .. group, rule)
end

-- A job of the lane starts. What is popped and then kept back by another gate is not charged.
local function charge_lane(group, id, attempt)
  local rate = lane_rate(group)
  if rate then take_token(rate, id .. ':' .. attempt) end
end

-- Pop at most `most` jobs of a lane that has been taken off the ring, and say whether it may be served
-- again. The popped are not counted as active yet.
local function pop_lane(group, most)
  local rate = lane_rate(group)
  local free = rate and math.floor(rate.free) or math.huge
  local room = math.min(lane_room(group), free)
  local popped = room > 0 and redis.pcall('ZPOPMIN', lane_key(group), math.min(most, room)) or {}
  if popped.err then return {}, false end
  local count = #popped / 2
  local backlog = redis.pcall('ZCARD', lane_key(group))
  local more = type(backlog) == 'number' and backlog > 0
  if more and count == free then shut_gate('rate:lane:' .. group) end
  return popped, more and room > count
end

local function lane_weight(group)
  local weight = tonumber(redis.call('HGET', root .. 'gweight', group))
  return weight and weight >= 1 and math.floor(weight) or 1
end

-- Lease what has been popped of a lane; `again` says whether it is back on the ring. Returns how many are
-- wanted still. Jobs that are not leased after all leave room, so that the lane may be served again.
local function lease_turn(group, popped, again, wanted, lease)
  if #popped == 0 then return wanted end
  local left = lease(popped, wanted)
  if not again and wanted - left < #popped / 2 then ring_backlog(group, true) end
  return left
end

-- One turn of the lane at the head, nil if there is none. A heavy lane that has not got all that its
-- turn is worth stays at the head.
local function take_turn(limit)
  local group = redis.call('LPOP', lane_ring)
  if not group then return nil end
  local weight = lane_weight(group)
  local credit = weight > 1 and tonumber(redis.call('HGET', lane_credit, group)) or weight
  credit = math.max(1, math.min(credit, weight))
  local popped, more = pop_lane(group, math.min(limit, credit))
  credit = credit - #popped / 2
  if more and credit >= 1 then
    redis.call('LPUSH', lane_ring, group)
    redis.call('HSET', lane_credit, group, credit)
  else
    if more then put_on_ring(group) end
    if weight > 1 then redis.call('HDEL', lane_credit, group) end
  end
  return group, popped, more
end

-- Claim from one lane after the other. `lease(popped)` takes what a turn has popped, and says how many
-- jobs are still wanted. Entries of the ring that stand for nothing are passed over, up to a bound.
local function claim_from_lanes(wanted, lease)
  local stale = 0
  while wanted > 0 and stale < STALE and turns_taken < TURNS do
    turns_taken = turns_taken + 1
    local group, popped, again = take_turn(wanted)
    if not group then return wanted end
    if #popped == 0 then stale = stale + 1 end
    wanted = lease_turn(group, popped, again, wanted, lease)
  end
  return wanted
end
