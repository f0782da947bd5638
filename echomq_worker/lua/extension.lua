-- Claim the version of our extension layout for this queue, or say which one it has. Safe to repeat.
--
--! keys meta
--! args version
--
-- Replies the version found.

local found = redis.call('HGET', meta, 'ext')
if found then return found end
redis.call('HSET', meta, 'ext', version)
return version
