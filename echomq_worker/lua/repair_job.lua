-- Put one job where it belongs: in one place, with a row that can be worked with and says so. What has
-- a payload is never lost. What has none is set aside. Looks first, so that it may be repeated.
--
--! keys root pending active schedule dead dead_at bell
--! args id lane
--! include time waiting quarantine side check
--
-- `lane` is a lane where the id was seen, or ''. Replies 1 if anything was changed, else 0.

local key = root .. 'job:' .. id
local kind = redis.call('TYPE', key)['ok']
local wrong = wrong_type({
  pending, 'zset', active, 'zset', schedule, 'zset', dead, 'zset', dead_at, 'zset', bell, 'list',
}) or wrong_side_key() or wrong_lane(lane ~= '' and lane or nil)
if wrong then return wrong end
local FIELDS = { 'attempts', 'payload', 'group', 'state', 'priority', 'held' }
local row = kind == 'hash' and redis.call('HMGET', key, unpack(FIELDS)) or {}
local group = row[3] or nil
wrong = wrong_lane(group)
if wrong then return wrong end

local own = group and lane_key(group) or (rung(row[5]) and prioritized) or pending
local parked = row[6] and root .. 'parked:' .. row[6] or own
local seen = lane ~= '' and lane_key(lane) or pending
local lasting = kind ~= 'none' and redis.call('PTTL', key) == -1
local changed = 0
local NAMES = {
  active, 'active', own, 'pending', pending, 'pending', schedule, 'scheduled', dead, 'dead', seen, 'pending',
  prioritized, 'pending', parked, 'pending',
}
local places, states = {}, {}
for i = 1, #NAMES, 2 do
  local score = not states[NAMES[i]] and redis.pcall('ZSCORE', NAMES[i], id)
  if type(score) == 'string' then places[#places + 1] = NAMES[i] end
  states[NAMES[i]] = NAMES[i + 1]
end

local function leave(place)
  changed = 1
  redis.call('ZREM', place, id)
  if place == active and group then free_lane_slot(group) end
  if place == seen and lane ~= '' and redis.call('ZCARD', place) == 0 then redis.call('LREM', lane_ring, 0, lane) end
end

if not row[2] then
  for _, place in ipairs(places) do leave(place) end
  if redis.call('ZREM', dead_at, id) == 1 then changed = 1 end
  if kind == 'hash' and lasting then
    changed = 1
    set_aside(id, 'there is no payload')
  elseif #places > 0 then
    write_fault(id, kind == 'hash' and 'there is no payload' or row_fault({ err = kind ~= 'none' or nil }), {})
  end
  return changed
end

-- Which of its places the job keeps; nil if it must not be touched.
local function place_to_keep()
  if #places == 0 then
    local left = redis.pcall('GET', key .. ':dependencies')
    if not lasting then return nil end
    if row[4] == 'awaiting_children' and not (type(left) == 'string' and (tonumber(left) or 1) <= 0) then return nil end
    return row[4] == 'dead' and dead or own
  end
  for _, place in ipairs(places) do
    local foreign = (place == seen or place == prioritized) and place ~= own
    if states[place] == row[4] and not foreign then return place end
  end
  return states[places[1]] == 'pending' and places[1] ~= pending and own or places[1]
end

local keep = place_to_keep()
local is_dead = keep == dead
if not is_dead and redis.call('ZREM', dead_at, id) == 1 then changed = 1 end
if not keep then return changed end
local there = false
for _, place in ipairs(places) do
  if place == keep then there = true else leave(place) end
end
local function mended() changed = 1 end
if row_fault(row) then
  mended(redis.call('HSET', key, 'attempts', 0))
  redis.call('HDEL', key, 'returned')
end
if row[4] ~= states[keep] then mended(redis.call('HSET', key, 'state', states[keep])) end
if not lasting then mended(redis.call('PERSIST', key)) end
if not there and states[keep] == 'pending' then
  changed = 1
  put_waiting(id, group, true)
  settle_down()
elseif not there then
  mended(redis.call('ZADD', keep, 0, id))
end
local score = tonumber(redis.call('ZSCORE', keep, id))
local is_flat = keep == pending or keep == lane_key(group or '') or is_dead
if is_flat and score ~= 0 then mended(redis.call('ZADD', keep, 0, id)) end
if keep == prioritized then
  local rank = rank_of(id)
  if score ~= rank then mended(redis.call('ZADD', keep, rank, id)) end
end
if keep == active and score == math.huge then mended(redis.call('ZADD', keep, now, id)) end
if is_dead and not redis.call('ZSCORE', dead_at, id) then mended(redis.call('ZADD', dead_at, now, id)) end
return changed
