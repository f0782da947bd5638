-- Take back at most `limit` jobs of one lane whose lease has run out. At most `scan` of all that has expired is
-- looked at, after the first `skip`. `counter`, `bury_at` and `max_attempts` are those of reap.lua. Safe to repeat.
--
--! keys root pending active dead dead_at failed_count bell clock log
--! args lane limit scan skip counter bury_at max_attempts log_size
--! include reap side check
--
-- Replies { ids recovered, ids buried, how many to skip next, or -1 when all has been looked at }.

for name, text in pairs({ limit = limit, scan = scan }) do
  if not whole(text, 1) then return bad_argument(name) end
end
for name, text in pairs({ skip = skip, bury_at = bury_at, max_attempts = max_attempts }) do
  if not whole(text, 0) then return bad_argument(name) end
end
local wrong = wrong_type({
  pending, 'zset', active, 'zset', dead, 'zset', dead_at, 'zset', failed_count, 'hash', bell, 'list', clock, 'list',
}) or wrong_side_key() or wrong_lane(lane) or wrong_log()
if wrong then return wrong end

local expired = redis.call('ZRANGEBYSCORE', active, '-inf', now, 'LIMIT', skip, scan)
local own, looked_at = {}, 0
for _, id in ipairs(expired) do
  if #own == tonumber(limit) then break end
  looked_at = looked_at + 1
  if redis.pcall('HGET', root .. 'job:' .. id, 'group') == lane then own[#own + 1] = id end
end
local recovered, buried = reap(read_losses(own, counter), counter, tonumber(bury_at), tonumber(max_attempts))
open_gates()
write_gates()
local more = looked_at == tonumber(scan) or looked_at < #expired
return { recovered, buried, more and skip + looked_at - #own or -1 }
