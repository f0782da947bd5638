-- A child tells its parent. In the same queue at once; to another queue by way of the outbox, whose
-- entries are NUL-joined (the last field may hold anything). Each child counts once, even one that
-- died, was brought back and completes. A parent that cannot take a report does not hold its child up:
-- the fault is written down.
--! needs root dead dead_at
--! include time waiting unique quarantine
local child_completed, child_died
do
  local outbox = root .. 'flow:outbox'

  local function elsewhere(parent_queue)
    return parent_queue and root ~= 'emq:{' .. parent_queue .. '}:'
  end

  local function or_fault(parent, reply)
    if type(reply) ~= 'table' or not reply.err then return reply end
    write_fault(parent, 'a child could not report: ' .. reply.err, {})
    return nil
  end

  local function first_report(parent, part, child, text)
    return or_fault(parent, redis.pcall('HSETNX', root .. 'job:' .. parent .. part, child, text)) == 1
  end

  local function count_down(parent, row)
    if redis.call('EXISTS', row .. ':dependencies') == 0 then return end
    local left = or_fault(parent, redis.pcall('DECR', row .. ':dependencies'))
    local fields = left and left <= 0 and or_fault(parent, redis.pcall('HMGET', row, 'state', 'group', 'more'))
    if fields and fields[1] == 'awaiting_children' then
      redis.call('HSET', row, 'state', 'pending')
      put_waiting(parent, fields[2], fields[3])
    end
  end

  function child_completed(child, parent, parent_queue, result)
    if elsewhere(parent_queue) then
      redis.call('RPUSH', outbox, table.concat({ parent_queue, parent, child, result }, '\0'))
      return
    end
    local row = root .. 'job:' .. parent
    if redis.call('EXISTS', row) == 0 then return end
    local counted = or_fault(parent, redis.pcall('HEXISTS', row .. ':unsuccessful', child)) == 1
    if first_report(parent, ':processed', child, result) and not counted then count_down(parent, row) end
  end

  local function post_death(queue, parent, child, policy, reason)
    redis.call('RPUSH', outbox, table.concat({ '', 'fail', queue, parent, child, policy, reason }, '\0'))
  end

  -- A parent that dies with its child passes the death on to its own parent, if it has one.
  local function parent_died(parent, row, reason)
    local reply = redis.pcall('HMGET', row, 'state', 'group', 'parent', 'parent_queue', 'parent_policy', 'more')
    local fields = or_fault(parent, reply)
    if not fields or (fields[1] ~= 'awaiting_children' and fields[1] ~= 'pending') then return end
    take_waiting(parent, fields[2])
    forget_arrival(parent)
    redis.call('HSET', row, 'state', 'dead')
    redis.call('ZADD', dead, 0, parent)
    redis.call('ZADD', dead_at, now, parent)
    unique_end(parent, fields[6])
    if fields[3] then
      local queue = fields[4] or string.match(root, '^emq:{(.*)}:$')
      post_death(queue, fields[3], parent, fields[5] == 'id' and 'id' or 'fp', reason)
    end
  end

  function child_died(child, parent, parent_queue, policy, reason)
    policy = policy == 'id' and 'id' or 'fp'
    if elsewhere(parent_queue) then
      post_death(parent_queue, parent, child, policy, reason)
      return
    end
    local row = root .. 'job:' .. parent
    if redis.call('EXISTS', row) == 0 then return end
    if policy == 'fp' then
      if first_report(parent, ':failed', child, reason) then parent_died(parent, row, reason) end
    elseif first_report(parent, ':unsuccessful', child, reason) then
      count_down(parent, row)
    end
  end
end
