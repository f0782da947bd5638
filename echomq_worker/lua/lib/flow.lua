-- A child tells its parent. In the same queue at once; to another queue by way of the outbox, whose
-- entries are NUL-joined (the last field may hold anything). Each child reports once.
--! needs root dead dead_at
--! include time waiting
local outbox = root .. 'flow:outbox'

local function elsewhere(parent_queue)
  return parent_queue and root ~= 'emq:{' .. parent_queue .. '}:'
end

local function count_down(parent, row)
  if redis.call('EXISTS', row .. ':dependencies') == 0 then return end
  if redis.call('DECR', row .. ':dependencies') > 0 then return end
  local state, group = unpack(redis.call('HMGET', row, 'state', 'group'))
  if state == 'awaiting_children' then
    redis.call('HSET', row, 'state', 'pending')
    put_waiting(parent, group)
  end
end

local function child_completed(child, parent, parent_queue, result)
  if elsewhere(parent_queue) then
    redis.call('RPUSH', outbox, table.concat({ parent_queue, parent, child, result }, '\0'))
    return
  end
  local row = root .. 'job:' .. parent
  if redis.call('EXISTS', row) == 0 then return end
  if redis.call('HSETNX', row .. ':processed', child, result) == 1 then count_down(parent, row) end
end

local function post_death(queue, parent, child, policy, reason)
  redis.call('RPUSH', outbox, table.concat({ '', 'fail', queue, parent, child, policy, reason }, '\0'))
end

-- A parent that dies with its child passes the death on to its own parent, if it has one.
local function parent_died(parent, row, reason)
  local state, group, above, above_queue, policy =
    unpack(redis.call('HMGET', row, 'state', 'group', 'parent', 'parent_queue', 'parent_policy'))
  if state ~= 'awaiting_children' and state ~= 'pending' then return end
  take_waiting(parent, group)
  redis.call('HSET', row, 'state', 'dead')
  redis.call('ZADD', dead, 0, parent)
  redis.call('ZADD', dead_at, now, parent)
  if above then
    local queue = above_queue or string.match(root, '^emq:{(.*)}:$')
    post_death(queue, above, parent, policy == 'id' and 'id' or 'fp', reason)
  end
end

local function child_died(child, parent, parent_queue, policy, reason)
  policy = policy == 'id' and 'id' or 'fp'
  if elsewhere(parent_queue) then
    post_death(parent_queue, parent, child, policy, reason)
    return
  end
  local row = root .. 'job:' .. parent
  if redis.call('EXISTS', row) == 0 then return end
  if policy == 'fp' then
    if redis.call('HSETNX', row .. ':failed', child, reason) == 1 then parent_died(parent, row, reason) end
  elseif redis.call('HSETNX', row .. ':unsuccessful', child, reason) == 1 then
    count_down(parent, row)
  end
end
