-- Mark a job as locked for a while, so that nobody removes it, for its holder; or let go of the mark, if `ms`
-- is 0. Safe to repeat.
--
--! keys root active
--! args id token ms
--! include check
--
-- Replies 1, 0 if there is no such job, 3 if it is not held by that token.

local row = root .. 'job:' .. id
if not whole(ms, 0) then return bad_argument('ms') end
local wrong = wrong_type({ row, 'hash', row .. ':lock', 'string', active, 'zset' })
if wrong then return wrong end
if ms == '0' then
  redis.call('DEL', row .. ':lock')
  redis.call('HDEL', row, 'lock')
  return 1
end
local attempts = redis.call('HGET', row, 'attempts')
if not attempts then return 0 end
if attempts ~= token or not redis.call('ZSCORE', active, id) then return 3 end
redis.call('SET', row .. ':lock', token, 'PX', ms)
return 1
