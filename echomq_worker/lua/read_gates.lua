-- What keeps the jobs of a queue back. Reads only.
--
--! keys root meta
--! args
--! include time check
--
-- Replies { now, concurrency, limits, strikes, busy, lanes' rates (at most 1,000 fields and values of each),
-- { gate, when it opens, jobs kept back }, names of the lanes that have rates }.

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
  local group = string.match(found[i], '^rate:lane:(.*)$')
  local place = group and 'g:' .. group .. ':pending' or 'parked:' .. found[i]
  local parked = redis.pcall('ZCARD', root .. place)
  shut[#shut + 1] = { found[i], found[i + 1], type(parked) == 'number' and parked or 0 }
end
local rated, names = some_of(root .. 'grate'), {}
for i = 1, #rated, 2 do
  local name = redis.pcall('HGET', root .. 'lane:names', rated[i])
  if type(name) == 'string' then
    names[#names + 1] = rated[i]
    names[#names + 1] = name
  end
end
return { now, redis.call('HGET', meta, 'concurrency') or '', some_of(root .. 'limits'), some_of(root .. 'strikes'),
  some_of(root .. 'busy'), rated, shut, names }
