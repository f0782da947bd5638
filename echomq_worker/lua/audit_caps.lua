-- The caps whose count of active jobs is not the truth. Reads only.
--
--! keys root active
--! args
--! include slot_truth
--
-- Replies { cap, counted, really }, at most 1,000; none if there are too many to count at one moment.

local COUNTABLE, MOST = 2000, 1000
local found = wrong_slots(COUNTABLE)
while #found > MOST do found[#found] = nil end
return found
