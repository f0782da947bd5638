-- Move the next instant of a scheduler, as newer tz data says. Changes nothing if it has moved since it was
-- read, so that it may be repeated.
--
--! keys root schedulers clock
--! args name digest expected expected_tz instant wake tz
--! include scheduler scheduler_wake check
--
-- `expected` and `expected_tz` are what was read (`*`: whatever it is); `instant` and `wake` are '' for never. Replies 1,
-- else 0.

local key = scheduler_key(name)
local wrong = wrong_type({ schedulers, 'zset', clock, 'list' })
  or (not (ms_text(instant) and ms_text(wake) and (instant == '') == (wake == '')) and bad_argument('instant'))
if wrong then return wrong end

local stored = redis.pcall('HMGET', key, 'digest', 'next', 'tz', 'last', 'paused', 'held')
if stored.err or stored[1] ~= digest or stored[2] ~= expected then return 0 end
if expected_tz ~= '*' and (stored[3] or '') ~= expected_tz then return 0 end
if expected == '' or (stored[4] and instant ~= '' and tonumber(instant) <= tonumber(stored[4])) then return 0 end

redis.call('HSET', key, 'next', instant, 'tz', tz)
if instant == '' then redis.call('HSET', key, 'ended', 'end') end
-- What is kept back is looked at again soon in any case.
if not stored[5] and not stored[6] then wake_at(name, instant == '' and '+inf' or wake) end
return 1
