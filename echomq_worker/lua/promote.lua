-- Move at most `limit` due jobs to where they may be claimed, open the gates whose time has come, and
-- renew the watcher. Safe to repeat.
--
--! keys root pending active schedule bell clock pump log
--! args limit worker_id watch_ms log_size
--! include promote schedule gates watch side check
--
-- Replies { moved, next due, now, watching }.

if not whole(limit, 1) then return bad_argument('limit') end
local bad = bad_watch() or wrong_type({ pending, 'zset', schedule, 'zset', bell, 'list' })
  or wrong_side_key() or wrong_log()
if bad then return bad end

local due = read_due(tonumber(limit))
local moved = promote(due)
open_gates()
write_gates()
return { moved, next_due(), now, watching(due.overdue) }
