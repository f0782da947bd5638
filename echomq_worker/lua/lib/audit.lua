-- All about one job at one moment: its row, and every place where its id lies.
--! needs root pending active schedule dead dead_at
local FACTS = { 'state', 'attempts', 'group', 'parent', 'parent_queue', 'max', 'returned', 'held', 'priority',
  'arrival' }

local function score_in(key, id)
  local found = redis.pcall('ZSCORE', key, id)
  return type(found) == 'string' and found or ''
end

-- `lane` is where the id was seen, or ''. Text and numbers only; '' stands for nothing.
local function job_facts(id, lane)
  local row = root .. 'job:' .. id
  local kind = redis.call('TYPE', row)['ok']
  local is_hash = kind == 'hash'
  local fields = is_hash and redis.call('HMGET', row, unpack(FACTS)) or {}
  local group = fields[3] or ''
  local left = redis.pcall('GET', row .. ':dependencies')
  local facts = {
    id, lane, kind, redis.call('PTTL', row), is_hash and redis.call('HEXISTS', row, 'payload') or 0,
    score_in(pending, id), score_in(active, id), score_in(schedule, id), score_in(dead, id),
    score_in(dead_at, id),
    group ~= '' and score_in(root .. 'g:' .. group .. ':pending', id) or '',
    lane ~= '' and score_in(root .. 'g:' .. lane .. ':pending', id) or '',
    type(left) == 'string' and left or '',
    score_in(root .. 'prioritized', id), fields[8] and score_in(root .. 'parked:' .. fields[8], id) or '',
  }
  for i = 1, #FACTS do facts[#facts + 1] = fields[i] or '' end
  return facts
end
