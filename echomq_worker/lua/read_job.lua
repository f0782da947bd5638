-- The newest lines of a job's log, and how far it has come. Reads only.
--
--! keys root
--! args id most
--! include check
--
-- Replies { whether there is such a job, progress or '', lines, the oldest first }.

local row = root .. 'job:' .. id
local wrong = wrong_type({ row, 'hash', row .. ':logs', 'list' })
if wrong then return wrong end
if not whole(most, 1) then return bad_argument('most') end
return { redis.call('EXISTS', row), redis.call('HGET', row, 'progress') or '',
  redis.call('LRANGE', row .. ':logs', -most, -1) }
