-- Move what is due from `schedule` to where it may be claimed: at most `limit`, the earliest first.
--! needs root schedule
--! include time waiting quarantine log
local function promote_due(limit)
  if limit == 0 then return 0 end
  local ids = redis.call('ZRANGEBYSCORE', schedule, '-inf', now, 'LIMIT', 0, limit)
  if #ids == 0 then return 0 end
  redis.call('ZREM', schedule, unpack(ids))
  local moved = 0
  for _, id in ipairs(ids) do
    local row = redis.pcall('HMGET', root .. 'job:' .. id, 'attempts', 'payload', 'group')
    local fault = row_fault(row)
    if fault then
      set_aside(id, fault)
    else
      redis.call('HSET', root .. 'job:' .. id, 'state', 'pending')
      put_waiting(id, row[3])
      note('promoted', id, row[1])
      moved = moved + 1
    end
  end
  settle_down()
  return moved
end
