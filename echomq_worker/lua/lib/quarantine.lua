-- Set a malformed member or row aside, with a reason and a bounded copy; its neighbours go on.
-- A row that is there is kept for a week under a key of its own, so that nothing is lost before somebody
-- has looked, its id is free again, and nobody else stumbles over it.
--! needs root
local QUARANTINE_CAP = 1000
local KEPT_MS = 604800000
local set_aside_count = 0

local function write_fault(id, reason, copy)
  local entry = { 'id', string.sub(id, 1, 200), 'reason', reason }
  for i, field in ipairs({ 'state', 'attempts', 'payload', 'name' }) do
    if copy[i] then
      entry[#entry + 1] = field
      entry[#entry + 1] = string.sub(copy[i], 1, 4096)
    end
  end
  redis.call('XADD', root .. 'quarantine', 'MAXLEN', '~', QUARANTINE_CAP, '*', unpack(entry))
end

-- What waits for the holder of its key to end finds out by itself.
local function let_go_of_key(id, row)
  local key = redis.pcall('HGET', row, 'uniq')
  if type(key) == 'string' and redis.pcall('GET', root .. 'de:' .. key) == id then
    redis.call('DEL', root .. 'de:' .. key)
  end
end

local function set_aside(id, reason)
  local row = root .. 'job:' .. id
  local copy = redis.pcall('HMGET', row, 'state', 'attempts', 'payload', 'name')
  write_fault(id, reason, copy)
  if redis.call('EXISTS', row) == 1 then
    let_go_of_key(id, row)
    redis.call('RENAME', row, root .. 'aside:' .. id)
    redis.call('PEXPIRE', root .. 'aside:' .. id, KEPT_MS)
  end
  set_aside_count = set_aside_count + 1
end

-- Returns nil if a row read by HMGET (attempts first, then payload) can be worked with.
local function row_fault(row)
  if row.err then return 'the row is not a hash' end
  if not row[1] and not row[2] then return 'there is no row' end
  if not row[1] or #row[1] > 15 or not string.find(row[1], '^%d+$') then return 'attempts is not a number' end
  if not row[2] then return 'there is no payload' end
  return nil
end
