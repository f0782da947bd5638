-- The lifecycle log: off at level 0, else a stream of about that many events.
--! needs log log_size
local log_cap = tonumber(log_size) or 0

local function note(event, id, attempt)
  if log_cap > 0 then
    redis.call('XADD', log, 'MAXLEN', '~', log_cap, '*', 'event', event, 'id', id, 'attempt', attempt)
  end
end
