-- Move what is due from `schedule` to where it may be claimed: at most `limit`, the earliest first.
-- What is due is read before a script writes anything.
--! needs root schedule
--! include time waiting quarantine log
local OVERDUE_MS = 200

-- `overdue` says that nobody has looked in time: the watcher has been killed, or is held up.
local function read_due(limit)
  local due = { ids = {}, rows = {}, overdue = false }
  if limit > 0 then due.ids = redis.call('ZRANGEBYSCORE', schedule, '-inf', now, 'LIMIT', 0, limit) end
  if due.ids[1] then due.overdue = now - redis.call('ZSCORE', schedule, due.ids[1]) > OVERDUE_MS end
  for i, id in ipairs(due.ids) do
    due.rows[i] = redis.pcall('HMGET', root .. 'job:' .. id, 'attempts', 'payload', 'group', 'more')
  end
  return due
end

local function promote(due)
  if #due.ids == 0 then return 0 end
  redis.call('ZREM', schedule, unpack(due.ids))
  local moved = 0
  for i, id in ipairs(due.ids) do
    local row = due.rows[i]
    local fault = row_fault(row)
    if fault then
      set_aside(id, fault)
    else
      redis.call('HSET', root .. 'job:' .. id, 'state', 'pending')
      put_waiting(id, row[3], row[4])
      note('promoted', id, row[1])
      moved = moved + 1
    end
  end
  settle_down()
  return moved
end
