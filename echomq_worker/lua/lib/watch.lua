-- One pump of a queue is the watcher: it alone sleeps to the exact ms. Any call renews its hold.
--! needs pump worker_id watch_ms
local function watching()
  if watch_ms == '0' then return 0 end
  local holder = redis.call('GET', pump)
  if holder and holder ~= worker_id then return 0 end
  redis.call('SET', pump, worker_id, 'PX', watch_ms)
  return 1
end
