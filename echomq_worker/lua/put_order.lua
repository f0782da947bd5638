-- Say what decides among jobs of one priority: who came to wait first (`arrival`), or who was minted first
-- (`mint`). Those that wait already are put in order a slice a call. Safe to repeat.
--
--! keys root meta
--! args order cursor size
--! include priority check
--
-- `cursor` is '0' in the first call. Replies the next cursor, '0' when all is done.

local wrong = wrong_type({ meta, 'hash', prioritized, 'zset' })
if wrong then return wrong end
if not whole(size, 1) then return bad_argument('size') end

if order == 'mint' then
  redis.call('HSET', meta, 'order', 'mint')
else
  redis.call('HDEL', meta, 'order')
  return '0'
end
local slice = redis.call('ZSCAN', prioritized, cursor, 'COUNT', size)
for i = 1, #slice[2], 2 do
  local id = slice[2][i]
  if redis.call('TYPE', root .. 'job:' .. id)['ok'] == 'hash' then put_by_priority(id) end
end
return slice[1]
