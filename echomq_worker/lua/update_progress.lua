-- Write down how far a job has come, and tell those who listen to the queue's events. Safe to repeat: they
-- hear it again. `event` is what they hear.
--
--! keys root
--! args id progress event
--! include check
--
-- Replies 1, or 0 if there is no such job.

local row = root .. 'job:' .. id
local wrong = wrong_type({ row, 'hash' })
if wrong then return wrong end
if redis.call('HEXISTS', row, 'attempts') == 0 then return 0 end
redis.call('HSET', row, 'progress', progress)
redis.pcall('PUBLISH', root .. 'events', event)
return 1
