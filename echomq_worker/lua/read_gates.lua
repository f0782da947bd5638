-- What keeps the jobs of a queue back. Reads only.
--
--! keys root meta
--! args
--! include time check
--
-- Replies { now, concurrency, limits, strikes, busy, lanes' rates (at most 1,000 fields and values of each),
-- { gate, when it opens, jobs parked } }.

local MOST = 1000
local wrong = wrong_type({ meta, 'hash', root .. 'limits', 'hash', root .. 'strikes', 'hash', root .. 'busy', 'hash',
  root .. 'grate', 'hash', root .. 'gates', 'zset' })
if wrong then return wrong end

local function some_of(key)
  if redis.call('HLEN', key) <= MOST then return redis.call('HGETALL', key) end
  return redis.call('HSCAN', key, 0, 'COUNT', MOST)[2]
end

local shut = {}
local found = redis.call('ZRANGE', root .. 'gates', 0, MOST - 1, 'WITHSCORES')
for i = 1, #found, 2 do
  local parked = redis.pcall('ZCARD', root .. 'parked:' .. found[i])
  shut[#shut + 1] = { found[i], found[i + 1], type(parked) == 'number' and parked or 0 }
end
return { now, redis.call('HGET', meta, 'concurrency') or '', some_of(root .. 'limits'), some_of(root .. 'strikes'),
  some_of(root .. 'busy'), some_of(root .. 'grate'), shut }
