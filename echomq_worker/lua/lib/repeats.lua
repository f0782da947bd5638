-- Repeating registrations of the base wire: the set `repeat` says when, a record each says what.
--! needs root
--! include check
local registry = root .. 'repeat'

local function record_of(name) return registry .. ':' .. name end

-- Returns the interval of a record read by HMGET (interval first, then template), or nil and what is wrong.
local function interval_of(record)
  if record.err then return nil, 'the record is not a hash' end
  if not record[1] and not record[2] then return nil, 'there is no record' end
  local every = record[1] and #record[1] <= 15 and string.find(record[1], '^%d+$') and whole(record[1], 1)
  if not every then return nil, 'every_ms is not a whole number above 0' end
  if not record[2] then return nil, 'there is no template' end
  return every
end

-- Nudge the watcher if what it sleeps until has come nearer.
local function nudge_for(name)
  local clock = root .. 'clock'
  if redis.call('ZRANGE', registry, 0, 0)[1] ~= name then return end
  if redis.call('LLEN', clock) == 0 then redis.call('LPUSH', clock, '1') end
end
