-- The server's clock, read once a script: every deadline and due time comes from it.
-- `now` is in whole ms. A delay above 0 counts from the end of the current ms, so that
-- nothing is ever early.
local clock_parts = redis.call('TIME')
local now = clock_parts[1] * 1000 + math.floor(clock_parts[2] / 1000)

local function due_after(delay)
  if delay > 0 and clock_parts[2] % 1000 > 0 then return now + 1 + delay end
  return now + delay
end
