-- One pump of a queue is the watcher: it alone sleeps to the exact ms. Any call renews its hold.
--! needs pump worker_id watch_ms
--! include check
local watcher = watch_ms ~= '0' and redis.pcall('GET', pump)

local function bad_watch()
  return (not whole(watch_ms, 0) and bad_argument('watch_ms'))
    or (type(watcher) == 'table' and wrong_type({ pump, 'string' }))
    or nil
end

-- Renewing needs no memory. Taking the watch does, and is left to others if there is none.
local function watching()
  if watch_ms == '0' or (watcher and watcher ~= worker_id) then return 0 end
  if watcher then return redis.call('PEXPIRE', pump, watch_ms) end
  local taken = redis.pcall('SET', pump, worker_id, 'PX', watch_ms)
  return taken['ok'] and 1 or 0
end
