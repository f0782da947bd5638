-- What some keys hold, how long they last, and whether the job they belong to has a row. Reads only.
--
--! keys root
--! args
--! rest names
--
-- `names`: for each its suffix, and the id of its job (`=` if the key holds the id itself, '' if it
-- belongs to none). Replies { type, ms left, the job's id, 1 if that has a row } of each.

local found = {}
for at = names, #ARGV, 2 do
  local key, owner = root .. ARGV[at], ARGV[at + 1]
  local kind = redis.call('TYPE', key)['ok']
  if owner == '=' then owner = kind == 'string' and redis.call('GET', key) or '' end
  found[#found + 1] = {
    kind, redis.call('PTTL', key), owner,
    owner ~= '' and redis.call('EXISTS', root .. 'job:' .. owner) or 1,
  }
end
return found
