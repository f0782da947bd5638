-- What the workers of a queue say about their time zone data. Reads only.
--
--! keys root workers
--! args
--! include check
--
-- Replies { id, version, ... }: those that live, and have said it at all.

local wrong = wrong_type({ workers, 'zset' })
if wrong then return wrong end

-- A worker that was killed stays in the list for a while, but what it said about itself expires.
local told = {}
for _, id in ipairs(redis.call('ZREVRANGE', workers, 0, 999)) do
  local version = redis.pcall('HGET', root .. 'worker:' .. id, 'tz')
  if type(version) == 'string' then
    told[#told + 1] = id
    told[#told + 1] = version
  end
end
return told
