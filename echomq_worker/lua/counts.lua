-- How many jobs are where. Reads only.
--
--! keys pending active schedule dead completed_count failed_count meta workers
--! args
--! include check
--
-- Replies { pending, active, scheduled, dead, completed, failed, paused, workers }.

local wrong = wrong_type({
  pending, 'zset', active, 'zset', schedule, 'zset', dead, 'zset', completed_count, 'hash', failed_count, 'hash',
  meta, 'hash', workers, 'zset',
})
if wrong then return wrong end

return {
  redis.call('ZCARD', pending),
  redis.call('ZCARD', active),
  redis.call('ZCARD', schedule),
  redis.call('ZCARD', dead),
  tonumber(redis.call('HGET', completed_count, 'count')) or 0,
  tonumber(redis.call('HGET', failed_count, 'count')) or 0,
  redis.call('HEXISTS', meta, 'paused'),
  redis.call('ZCARD', workers),
}
