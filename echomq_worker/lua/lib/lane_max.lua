-- How many jobs may wait in a lane, and what becomes of one more. It counts for what is enqueued: what comes
-- back to its lane, or becomes due, has been taken in before.
--! needs root pending dead dead_at bell log log_size
--! include lanes removal
local bounded_lanes

-- Returns how many may wait in a lane, and whether the oldest goes for one more; nil if any number may.
local function lane_bound(group)
  if bounded_lanes == nil then bounded_lanes = redis.call('EXISTS', root .. 'gmax') == 1 end
  local rule = bounded_lanes and redis.call('HGET', root .. 'gmax', group)
  if not rule then return nil end
  local most, word = string.match(rule, '^(%d+) (%l+)$')
  return tonumber(most), word == 'drop'
end

local function lane_depth(group)
  local waiting = redis.pcall('ZCARD', lane_key(group))
  return type(waiting) == 'number' and waiting or 0
end

local function lane_refuses(group)
  local most, drops = lane_bound(group)
  return most ~= nil and not drops and lane_depth(group) >= most
end

-- `id` has come into its lane. If that is one too many, the oldest of the others goes.
local function drop_oldest(group, id)
  local most, drops = lane_bound(group)
  if not drops or lane_depth(group) <= most then return end
  local oldest = redis.call('ZRANGE', lane_key(group), 0, 1)
  local gone = oldest[1] == id and oldest[2] or oldest[1]
  if redis.call('ZREM', lane_key(group), gone) == 1 then remove_jobs({ gone }) end
end
