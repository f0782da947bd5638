-- Bring dead jobs back, each to where it waits, with all its attempts before it again. The token does
-- not go down: what has been counted is written off as returned. Safe to repeat.
--
--! keys root pending dead dead_at bell log
--! args log_size
--! rest ids
--! include waiting log check
--
-- Replies one character each: 1 requeued, 0 gone, 3 not dead.

local wrong = wrong_type({ pending, 'zset', dead, 'zset', dead_at, 'zset', bell, 'list' })
if wrong then return wrong end

local verdicts = {}
for at = ids, #ARGV do
  local id = ARGV[at]
  local row = redis.pcall('HMGET', root .. 'job:' .. id, 'attempts', 'group')
  if row.err or not row[1] then
    verdicts[#verdicts + 1] = '0'
  elseif redis.call('ZREM', dead, id) == 0 then
    verdicts[#verdicts + 1] = '3'
  else
    redis.call('ZREM', dead_at, id)
    redis.call('HDEL', root .. 'job:' .. id, 'last_error', 'crashes', 'unknown')
    redis.call('HSET', root .. 'job:' .. id, 'state', 'pending', 'returned', row[1])
    put_waiting(id, row[2])
    note('requeued', id, row[1])
    verdicts[#verdicts + 1] = '1'
  end
end
settle_down()
return table.concat(verdicts)
