-- Schedulers with all that is stored of them: a page in the order in which they fire, or those named.
-- Reads only.
--
--! keys root schedulers
--! args offset limit
--! rest names
--! include time check
--
-- Replies { now, how many there are, { name, wake or '', type of its key, fields and values } of each }.

if not whole(offset, 0) then return bad_argument('offset') end
if not whole(limit, 0) or tonumber(limit) > 500 or #ARGV - names >= 500 then return bad_argument('limit') end
local wrong = wrong_type({ schedulers, 'zset' })
if wrong then return wrong end

local asked = { unpack(ARGV, names) }
if #asked == 0 and tonumber(limit) > 0 then
  asked = redis.call('ZRANGE', schedulers, offset, tonumber(offset) + tonumber(limit) - 1)
end
local found = {}
for i, name in ipairs(asked) do
  local key = root .. 'scheduler:' .. name
  local kind = redis.call('TYPE', key)['ok']
  local stored = kind == 'hash' and redis.call('HGETALL', key) or {}
  found[i] = { name, redis.call('ZSCORE', schedulers, name) or '', kind, stored }
end
return { now, redis.call('ZCARD', schedulers), found }
