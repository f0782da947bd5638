-- Add a line to the log of a job, and keep the newest `keep` lines. A repeat adds it again.
--
--! keys root
--! args id line keep
--! include check
--
-- Replies how many lines there are, or -1 if there is no such job.

local row = root .. 'job:' .. id
local logs = row .. ':logs'
if not whole(keep, 1) then return bad_argument('keep') end
local wrong = wrong_type({ row, 'hash', logs, 'list' })
if wrong then return wrong end
if redis.call('HEXISTS', row, 'attempts') == 0 then return -1 end
redis.call('RPUSH', logs, line)
redis.call('LTRIM', logs, -keep, -1)
return redis.call('LLEN', logs)
