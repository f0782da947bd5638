-- Register a repeating job of the base wire. A record that is there is left as it is. Safe to repeat.
--
--! keys root
--! args name every_ms first_in_ms template
--! include time repeats
--
-- `first_in_ms`: until the first time, by the server's clock. Replies 1 registered, 0 there already.

if not interval_of({ every_ms, template }) then return bad_argument('every_ms') end
if not whole(first_in_ms, 0) then return bad_argument('first_in_ms') end
local record = record_of(name)
local wrong = wrong_type({ registry, 'zset', record, 'hash', root .. 'clock', 'list' })
if wrong then return wrong end

if redis.call('EXISTS', record) == 1 then return 0 end
redis.call('HSET', record, 'every_ms', every_ms, 'template', template)
redis.call('ZADD', registry, due_after(tonumber(first_in_ms)), name)
nudge_for(name)
return 1
