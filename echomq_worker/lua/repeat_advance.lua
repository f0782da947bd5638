-- Move the next time of a repeating registration of the base wire. A member without a record is taken
-- out. Safe to repeat.
--
--! keys root
--! args name next_ms
--! include repeats
--
-- `next_ms`: Unix ms. Replies 1, or 0 if there is no such registration.

if not whole(next_ms, 0) then return bad_argument('next_ms') end
local wrong = wrong_type({ registry, 'zset', record_of(name), 'hash', root .. 'clock', 'list' })
if wrong then return wrong end

if redis.call('EXISTS', record_of(name)) == 0 then
  redis.call('ZREM', registry, name)
  return 0
end
redis.call('ZADD', registry, next_ms, name)
nudge_for(name)
return 1
