-- Read a slice of a place, and all about the jobs in it, at one moment. Reads only.
--
--! keys root pending active schedule dead dead_at place
--! args lane cursor size
--! include time check audit
--
-- `lane` is the lane whose place it is, or ''. Replies { now, next cursor, the facts of each }.

if not whole(size, 1) then return bad_argument('size') end
local found = {}
local slice = redis.pcall('ZSCAN', place, cursor, 'COUNT', size)
if slice.err then return { now, '0', found } end
for i = 1, #slice[2], 2 do found[#found + 1] = job_facts(slice[2][i], lane) end
return { now, slice[1], found }
