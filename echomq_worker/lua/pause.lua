-- Stop handing out the jobs of a queue; running jobs go on. Safe to repeat: the newest reason stands.
--
--! keys meta
--! args reason by
--! include time
--
-- Replies 1.

redis.call('HSET', meta, 'paused', '1', 'paused_at', now)
if reason ~= '' then redis.call('HSET', meta, 'paused_reason', reason) else redis.call('HDEL', meta, 'paused_reason') end
if by ~= '' then redis.call('HSET', meta, 'paused_by', by) else redis.call('HDEL', meta, 'paused_by') end
return 1
