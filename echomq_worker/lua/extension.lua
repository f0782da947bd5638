-- Claim the version of our extension layout for this queue, or say which one it has. Safe to repeat.
--
--! keys meta
--! args version
--! include check
--
-- Replies the version found.

local wrong = wrong_type({ meta, 'hash' })
if wrong then return wrong end

local found = redis.call('HGET', meta, 'ext')
if found then return found end
redis.call('HSET', meta, 'ext', version)
return version
