-- Take back at most `limit` jobs whose lease has run out. `counter` names the row field that counts
-- the losses ('' for none); at `bury_at` of them (0 for never), or when the attempts are used up
-- (`max_attempts` unless the row says otherwise, 0 for no limit), a job is buried. Safe to repeat.
--
--! keys root pending active dead dead_at failed_count bell clock log
--! args limit counter bury_at max_attempts reason log_size
--! include reap side check
--
-- `reason` replaces the error text of the buried unless it is ''. Replies { ids recovered, ids buried }.

if not whole(limit, 1) then return bad_argument('limit') end
if not whole(bury_at, 0) then return bad_argument('bury_at') end
if not whole(max_attempts, 0) then return bad_argument('max_attempts') end
local wrong = wrong_type({
  pending, 'zset', active, 'zset', dead, 'zset', dead_at, 'zset', failed_count, 'hash', bell, 'list', clock, 'list',
}) or wrong_side_key() or wrong_log()
if wrong then return wrong end

local recovered, buried = reap(
  read_expired(tonumber(limit), counter),
  counter, tonumber(bury_at), tonumber(max_attempts), reason ~= '' and reason or nil
)
open_gates()
write_gates()
return { recovered, buried }
