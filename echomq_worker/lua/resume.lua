-- Hand out the jobs of a queue again, and wake workers for what has gathered. Safe to repeat.
--
--! keys root pending meta bell
--! args
--! include bell check
--
-- Replies 1.

local wrong = wrong_type({ pending, 'zset', meta, 'hash', bell, 'list' })
if wrong then return wrong end

redis.call('HDEL', meta, 'paused', 'paused_at', 'paused_reason', 'paused_by')
local ladder, ring = redis.pcall('ZCARD', root .. 'prioritized'), redis.pcall('LLEN', root .. 'ring')
ring_bell(redis.call('ZCARD', pending) + (tonumber(ladder) or 0) + (tonumber(ring) or 0))
return 1
