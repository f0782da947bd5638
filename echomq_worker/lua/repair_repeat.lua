-- Take a registration without a record away; give a record without one its next time. Looks first, so
-- that it may be repeated.
--
--! keys repeat_set record
--! args name
--! include time check
--
-- Replies 1 if anything was changed, else 0.

local wrong = wrong_type({ repeat_set, 'zset', record, 'hash' })
if wrong then return wrong end
local due = redis.call('ZSCORE', repeat_set, name)
if redis.call('EXISTS', record) == 0 then return due and redis.call('ZREM', repeat_set, name) or 0 end
local fields = redis.call('HMGET', record, 'every_ms', 'template')
local every = whole(fields[1] or '', 1)
if due or not every or not fields[2] then return 0 end
return redis.call('ZADD', repeat_set, now + every, name)
