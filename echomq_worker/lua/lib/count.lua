-- Counters of the base wire. Nonsense found in one is replaced: a count must not stop a job.
local function count(key, by)
  local counted = redis.pcall('HINCRBY', key, 'count', by)
  if type(counted) ~= 'number' then redis.call('HSET', key, 'count', by) end
end
