-- Take a repeating registration of the base wire away, with its record. Safe to repeat.
--
--! keys root
--! args name
--! include repeats
--
-- Replies 1 if it was registered, else 0.

local wrong = wrong_type({ registry, 'zset', record_of(name), 'hash' })
if wrong then return wrong end

local removed = redis.call('ZREM', registry, name)
redis.call('DEL', record_of(name))
return removed
