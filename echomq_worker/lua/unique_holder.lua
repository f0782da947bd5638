-- Which job holds a key of uniqueness. Reads only.
--
--! keys root
--! args dedup
--! include check
--
-- Replies its id, or '' if nobody does: a job that has gone holds nothing.

local key = root .. 'de:' .. dedup
local wrong = wrong_type({ key, 'string' })
if wrong then return wrong end
local id = redis.call('GET', key)
return id and redis.call('EXISTS', root .. 'job:' .. id) == 1 and id or ''
