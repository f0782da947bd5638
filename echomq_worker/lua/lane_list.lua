-- How lanes stand: those that are named, or some of those that `source` knows, from `cursor` on. Reads only.
--
--! keys root
--! args source cursor count
--! rest names
--! include time lanes
--
-- `source` is `names`, `ring`, `paused`, `lane:first` or one of the hashes of lanes. Replies { next cursor, '0' at the end, and
-- for each lane { group, name, waiting, active, ceiling, weight, maximum, rate, 1 if paused, note of the pause,
-- first id, last id, 1 if it goes first, until when its rate keeps it back } }; '' stands for none.

local HASHES = {
  names = 'lane:names', gactive = 'gactive', glimit = 'glimit', gweight = 'gweight', gmax = 'gmax', grate = 'grate',
}
local next_cursor, groups = '0', {}

local function scan_hash(key)
  local found = redis.pcall('HSCAN', key, cursor, 'COUNT', count)
  if found.err then return end
  next_cursor = found[1]
  for i = 1, #found[2], 2 do groups[#groups + 1] = found[2][i] end
end

local function scan_set(key)
  local found = redis.pcall('SSCAN', key, cursor, 'COUNT', count)
  if not found.err then next_cursor, groups = found[1], found[2] end
end

local function scan_ring()
  local first = tonumber(cursor)
  local found = redis.pcall('LRANGE', lane_ring, first, first + count - 1)
  if found.err then return end
  groups = found
  if #found == tonumber(count) then next_cursor = string.format('%.0f', first + count) end
end

local function text(reply)
  return type(reply) == 'string' and reply or ''
end

local function field(key, group)
  return text(redis.pcall('HGET', root .. key, group))
end

local function kept_until(group)
  local at = text(redis.pcall('ZSCORE', root .. 'gates', 'rate:lane:' .. group))
  return (tonumber(at) or 0) > now and at or ''
end

local function view(group)
  local waiting = redis.pcall('ZCARD', lane_key(group))
  local first, last = redis.pcall('ZRANGE', lane_key(group), 0, 0), redis.pcall('ZRANGE', lane_key(group), -1, -1)
  return {
    group, field('lane:names', group), type(waiting) == 'number' and waiting or 0, field('gactive', group),
    field('glimit', group), field('gweight', group), field('gmax', group), field('grate', group),
    redis.pcall('SISMEMBER', root .. 'paused', group) == 1 and 1 or 0, field('lane:pauses', group), text(first[1]),
    text(last[1]), redis.pcall('SISMEMBER', root .. 'lane:first', group) == 1 and 1 or 0, kept_until(group),
  }
end

for at = names, #ARGV do groups[#groups + 1] = ARGV[at] end
if source == 'ring' then
  scan_ring()
elseif source == 'paused' or source == 'lane:first' then
  scan_set(root .. source)
elseif HASHES[source] then
  scan_hash(root .. HASHES[source])
end
local views = {}
for i, group in ipairs(groups) do views[i] = view(group) end
return { next_cursor, views }
