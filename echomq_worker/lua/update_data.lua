-- Replace the payload of a job. A run that has begun goes on with the old one. Safe to repeat.
--
--! keys root
--! args id payload
--! include check
--
-- Replies 1, or 0 if there is no such job.

local row = root .. 'job:' .. id
local wrong = wrong_type({ row, 'hash' })
if wrong then return wrong end
if redis.call('HEXISTS', row, 'attempts') == 0 then return 0 end
redis.call('HSET', row, 'payload', payload)
return 1
