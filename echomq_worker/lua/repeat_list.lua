-- Read repeating registrations of the base wire, the earliest first. Reads only.
--
--! keys root
--! args which offset limit
--! include time repeats
--
-- `which`: `all`, or `due` for those whose time has come. Replies { now, how many there are, { name, next
-- time, interval, template, what is wrong } of each }; nil stands for a field that is not there.

if not whole(offset, 0) then return bad_argument('offset') end
if not whole(limit, 0) then return bad_argument('limit') end
local wrong = wrong_type({ registry, 'zset' })
if wrong then return wrong end

local last = which == 'due' and now or '+inf'
local names = redis.call('ZRANGEBYSCORE', registry, '-inf', last, 'WITHSCORES', 'LIMIT', offset, limit)
local found = {}
for i = 1, #names, 2 do
  local record = redis.pcall('HMGET', record_of(names[i]), 'every_ms', 'template')
  local _, problem = interval_of(record)
  found[#found + 1] = { names[i], names[i + 1], record[1] or false, record[2] or false, problem or '' }
end
return { now, redis.call('ZCARD', registry), found }
