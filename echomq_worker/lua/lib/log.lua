-- The lifecycle log: off at level 0, else a stream of about that many events.
--! needs log log_size
--! include check
local log_cap = tonumber(log_size) or 0

local function wrong_log()
  if log_cap == 0 then return nil end
  if not whole(log_size, 0) then return bad_argument('log_size') end
  return wrong_type({ log, 'stream' })
end

local function note(event, id, attempt)
  if log_cap > 0 then
    redis.call('XADD', log, 'MAXLEN', '~', log_cap, '*', 'event', event, 'id', id, 'attempt', attempt)
  end
end
