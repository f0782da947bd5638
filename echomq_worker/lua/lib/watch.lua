-- One pump of a queue is the watcher: it alone sleeps to the exact ms. Any call renews its hold. Who
-- finds overdue work takes the watch over.
--! needs pump worker_id watch_ms
--! include check bell
local watcher = worker_id ~= '' and redis.pcall('GET', pump)

local function bad_watch()
  return (not whole(watch_ms, 0) and bad_argument('watch_ms'))
    or (type(watcher) == 'table' and wrong_type({ pump, 'string' }))
    or nil
end

-- Who asks for no time gives the watch up, and one token wakes another worker, which takes it over.
local function give_up_watch()
  if watcher and watcher == worker_id then
    redis.call('DEL', pump)
    ring_bell(1)
  end
  return 0
end

-- Renewing needs no memory. Taking the watch does, and is left to others if there is none.
local function watching(overdue)
  if watch_ms == '0' then return give_up_watch() end
  if watcher and watcher ~= worker_id and not overdue then return 0 end
  if watcher == worker_id then return redis.call('PEXPIRE', pump, watch_ms) end
  local taken = redis.pcall('SET', pump, worker_id, 'PX', watch_ms)
  return taken['ok'] and 1 or 0
end
