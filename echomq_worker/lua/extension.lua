-- Claim the version of our extension layout for this queue (if `claim` is 1), or say which one it has.
-- Safe to repeat.
--
--! keys meta
--! args version claim
--! include check
--
-- Replies the version found, '' if there is none.

local wrong = wrong_type({ meta, 'hash' })
if wrong then return wrong end

local found = redis.call('HGET', meta, 'ext')
if found then return found end
if claim ~= '1' then return '' end
redis.call('HSET', meta, 'ext', version)
return version
