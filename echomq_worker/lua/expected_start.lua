-- What stands between a job and its start, as far as time can tell. Reads only.
--
--! keys root pending active schedule meta
--! args id
--! include time check
--
-- Replies { now, place, when it opens, how many are before it, rule of its rate, paused }: place is scheduled,
-- parked, waiting, active or none; '' stands for what is not known.

local wrong = wrong_type({ pending, 'zset', active, 'zset', schedule, 'zset', meta, 'hash' })
if wrong then return wrong end
local paused = redis.call('HEXISTS', meta, 'paused')
local function opens_at(gate)
  local at = redis.pcall('ZSCORE', root .. 'gates', gate)
  return type(at) == 'string' and at or ''
end
local function rule_of(gate)
  local rule = redis.pcall('HGET', root .. 'limits', (string.match(gate, '^(%l+:key:[^/]*)/') or gate))
  return type(rule) == 'string' and rule or ''
end

local due = redis.call('ZSCORE', schedule, id)
if due then return { now, 'scheduled', due, 0, '', paused } end
if redis.call('ZSCORE', active, id) then return { now, 'active', '', 0, '', paused } end
local row = redis.pcall('HMGET', root .. 'job:' .. id, 'held', 'group')
if row.err then return { now, 'none', '', 0, '', paused } end
if row[1] then
  local before = redis.pcall('ZRANK', root .. 'parked:' .. row[1], id)
  if type(before) == 'number' then
    local rule = string.sub(row[1], 1, 5) == 'rate:' and rule_of(row[1]) or ''
    return { now, 'parked', opens_at(row[1]), before, rule, paused }
  end
end
local before = redis.call('ZRANK', pending, id)
if not before then
  local ladder = redis.pcall('ZRANK', root .. 'prioritized', id)
  local lane = row[2] and redis.pcall('ZRANK', root .. 'g:' .. row[2] .. ':pending', id)
  before = (type(ladder) == 'number' and ladder) or (type(lane) == 'number' and lane)
end
if not before then return { now, 'none', '', 0, '', paused } end
return { now, 'waiting', opens_at('rate:queue'), before, rule_of('rate:queue'), paused }
