-- Let jobs go on that were stopped, each from its place. Safe to repeat.
--
--! keys root pending active bell clock
--! args scope
--! include time waiting gates side check
--
-- Replies 1, or 0 if they were not stopped.

local wrong = wrong_type({ pending, 'zset', active, 'zset', bell, 'list', clock, 'list' }) or wrong_side_key()
if wrong then return wrong end
local lifted = redis.call('HDEL', root .. 'strikes', scope)
if lifted == 1 or redis.call('ZSCORE', root .. 'gates', 'strike:' .. scope) then ask_gates_again('strike:' .. scope) end
return lifted
