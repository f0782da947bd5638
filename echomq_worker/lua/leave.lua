-- A worker leaves: its presence goes, and so does its hold on the watch; one token wakes another
-- worker, which takes the watch over. Safe to repeat.
--
--! keys workers worker pump bell
--! args worker_id
--! include bell check
--
-- Replies 1.

local wrong = wrong_type({ workers, 'zset', worker, 'hash', pump, 'string', bell, 'list' })
if wrong then return wrong end

redis.call('ZREM', workers, worker_id)
redis.call('DEL', worker)
if redis.call('GET', pump) == worker_id then
  redis.call('DEL', pump)
  if redis.call('ZCARD', workers) > 0 then ring_bell(1) end
end
return 1
