-- Stop handing out the jobs of a queue; running jobs go on. Safe to repeat: the newest reason stands.
--
--! keys meta
--! args reason by
--! include time check
--
-- Replies 1.

local wrong = wrong_type({ meta, 'hash' })
if wrong then return wrong end

-- The first write frees memory, so that a full server can be paused.
redis.call('HDEL', meta, 'paused_reason', 'paused_by')
redis.call('HSET', meta, 'paused', '1', 'paused_at', now)
if reason ~= '' then redis.call('HSET', meta, 'paused_reason', reason) end
if by ~= '' then redis.call('HSET', meta, 'paused_by', by) end
return 1
