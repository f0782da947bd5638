-- Remove at most `budget` jobs of a paused queue, and nobody is told: the queue goes as a whole. To be called
-- until it finds none. What else belongs to the queue goes afterwards, jobs of further lanes and gates too, and
-- `meta` last, so that a queue that is half gone stays paused. Safe to repeat.
--
--! keys root pending active schedule dead meta
--! args force budget last
--! include check
--
-- `force`: 1 even if jobs are active. `last`: 1 to remove `meta` too, once nothing else is left. Replies 1 if
-- there may be more, 0 if not, 2 if the queue is not paused, 3 if jobs are active.

local PARTS = { '', ':logs', ':lock', ':dependencies', ':processed', ':failed', ':unsuccessful' }
local AT_ONCE, LOOKED_AT = 500, 500
if not whole(budget, 1) then return bad_argument('budget') end
local wrong = wrong_type({ meta, 'hash' })
if wrong then return wrong end

if redis.call('HEXISTS', meta, 'paused') == 0 then return redis.call('EXISTS', meta) == 0 and last == '1' and 0 or 2 end
local held = redis.pcall('ZCARD', active)
if force ~= '1' and type(held) == 'number' and held > 0 then return 3 end

local function or_none(found)
  return found.err and {} or found
end

local places = { active, pending, schedule, dead, root .. 'prioritized' }
for _, gate in ipairs(or_none(redis.pcall('ZRANGE', root .. 'gates', 0, LOOKED_AT - 1))) do
  places[#places + 1] = root .. 'parked:' .. gate
end
local lanes = {}
local function add_lanes(groups)
  for _, group in ipairs(groups) do
    if not lanes[group] then
      lanes[group] = true
      places[#places + 1] = root .. 'g:' .. group .. ':pending'
    end
  end
end
add_lanes(or_none(redis.pcall('SSCAN', root .. 'paused', 0, 'COUNT', LOOKED_AT))[2] or {})
add_lanes(or_none(redis.pcall('LRANGE', root .. 'ring', 0, LOOKED_AT - 1)))
for _, key in ipairs({ 'gactive', 'glimit', 'gweight', 'lane:names' }) do
  local flat, groups = or_none(redis.pcall('HSCAN', root .. key, 0, 'COUNT', LOOKED_AT))[2] or {}, {}
  for i = 1, #flat, 2 do groups[#groups + 1] = flat[i] end
  add_lanes(groups)
end

local room = tonumber(budget)
local function remove_from(place)
  while room > 0 do
    local popped = redis.pcall('ZPOPMIN', place, math.min(room, AT_ONCE))
    if popped.err or #popped == 0 then return end
    local gone = {}
    for i = 1, #popped, 2 do
      for _, part in ipairs(PARTS) do gone[#gone + 1] = root .. 'job:' .. popped[i] .. part end
    end
    redis.call('UNLINK', unpack(gone))
    room = room - #popped / 2
  end
end

for _, place in ipairs(places) do
  remove_from(place)
  if room == 0 then return 1 end
end
if last == '1' then redis.call('UNLINK', meta) end
return 0
