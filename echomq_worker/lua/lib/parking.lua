-- Where jobs wait that are kept back: `parked:<gate>`, under the score that they had.
--! needs root
--! include waiting
local gates_key = root .. 'gates'

-- Let a job wait again that has been taken from where it was parked.
local function unpark(id)
  local fields = redis.pcall('HMGET', root .. 'job:' .. id, 'attempts', 'group')
  if fields.err or not fields[1] then return false end
  redis.call('HDEL', root .. 'job:' .. id, 'held')
  put_waiting(id, fields[2], true)
  return true
end

-- Whether a job waits for the holder of its key to end: no change of its place lets it wait to be claimed.
local function is_kept(gate)
  return type(gate) == 'string' and string.sub(gate, 1, 7) == 'unique:'
end

-- The holder of a key of uniqueness has ended: the key goes to who waits for that, if anybody does.
local function pass_on_key(dedup)
  local gate = 'unique:' .. dedup
  local popped = redis.pcall('ZPOPMIN', root .. 'parked:' .. gate)
  redis.call('ZREM', gates_key, gate)
  if popped[1] and unpark(popped[1]) then redis.call('SET', root .. 'de:' .. dedup, popped[1]) end
end
