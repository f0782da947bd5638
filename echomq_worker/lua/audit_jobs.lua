-- Read all about some jobs, each at one moment. Reads only.
--
--! keys root pending active schedule dead dead_at
--! args
--! rest ids
--! include time audit
--
-- Replies { now, the facts of each }.

local found = {}
for at = ids, #ARGV do found[#found + 1] = job_facts(ARGV[at], '') end
return { now, found }
