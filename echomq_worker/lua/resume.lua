-- Hand out the jobs of a queue again, and wake workers for what has gathered. Safe to repeat.
--
--! keys pending meta bell
--! args
--! include bell check
--
-- Replies 1.

local wrong = wrong_type({ pending, 'zset', meta, 'hash', bell, 'list' })
if wrong then return wrong end

redis.call('HDEL', meta, 'paused', 'paused_at', 'paused_reason', 'paused_by')
ring_bell(redis.call('ZCARD', pending))
return 1
