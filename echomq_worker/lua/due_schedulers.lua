-- The schedulers whose time has come, and when the next of the others has its own. Reads only.
--
--! keys root schedulers
--! args limit offset
--! rest fields
--! include time check
--
-- `offset`: how many of those that are due to pass over. `fields`: what to read of each. Replies { now, when
-- the next of the others wakes or '', { name, wake, type of its key, values } of each, the longest due first,
-- when the first registration of the base wire is due or '' }.

if not whole(limit, 1) or tonumber(limit) > 500 then return bad_argument('limit') end
if not whole(offset, 0) then return bad_argument('offset') end
if #ARGV - fields > 100 then return bad_argument('fields') end
local wrong = wrong_type({ schedulers, 'zset' })
if wrong then return wrong end

local due = redis.call('ZRANGEBYSCORE', schedulers, '-inf', now, 'WITHSCORES', 'LIMIT', offset, limit)
local later = redis.call('ZRANGEBYSCORE', schedulers, '(' .. string.format('%.0f', now), '(+inf', 'WITHSCORES',
  'LIMIT', 0, 1)
local found = {}
for i = 1, #due, 2 do
  local key = root .. 'scheduler:' .. due[i]
  local values = redis.pcall('HMGET', key, unpack(ARGV, fields))
  -- Only what looks odd is looked at twice.
  local kind = values[1] and 'hash' or redis.call('TYPE', key)['ok']
  if kind ~= 'hash' then values = {} end
  found[#found + 1] = { due[i], due[i + 1], kind, values }
end
local repeated = redis.pcall('ZRANGE', root .. 'repeat', 0, 0, 'WITHSCORES')[2]
return { now, later[2] or '', found, repeated or '' }
