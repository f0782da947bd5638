-- Remove jobs for good that have been taken from where they waited: their rows and what belongs to them go,
-- and whoever waits for them is told.
--! needs root pending dead dead_at bell log log_size
--! include flow occurrence unique log
local PARTS = { ':logs', ':lock', ':dependencies', ':processed', ':failed', ':unsuccessful' }
local AT_ONCE = 1000

-- A parent that goes with its child is not told: its row is gone before any is told.
local function remove_jobs(ids)
  local gone, rows = {}, {}
  for i, id in ipairs(ids) do
    local key = root .. 'job:' .. id
    rows[i] = redis.pcall('HMGET', key, 'attempts', 'parent', 'parent_queue', 'parent_policy', 'scheduler',
      'more')
    occurrence_ended(id, rows[i][5], 'removed')
    if not rows[i].err then unique_end(id, rows[i][6], true) end
    gone[#gone + 1] = key
    for _, part in ipairs(PARTS) do gone[#gone + 1] = key .. part end
  end
  for first = 1, #gone, AT_ONCE do redis.call('DEL', unpack(gone, first, math.min(first + AT_ONCE - 1, #gone))) end
  for i, id in ipairs(ids) do
    local row = rows[i]
    if row[2] then child_died(id, row[2], row[3], row[4], 'removed') end
    note('removed', id, row[1] or 0)
  end
end
