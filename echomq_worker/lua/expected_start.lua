-- What stands between a job and its start, as far as time can tell. Reads only.
--
--! keys root pending active schedule meta
--! args id
--! include time check
--
-- Replies { now, place, when it opens, how many are before it, rule of its rate, paused }: place is scheduled,
-- parked, kept (until something happens), waiting, active or none; '' stands for what is not known.

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

local function field(key, name)
  local text = redis.pcall('HGET', root .. key, name)
  return type(text) == 'string' and text or nil
end

-- When a rate lets the next one start, as its state tells without a change of it.
local function rate_opens(gate, rule)
  local count, window, kind = string.match(rule, '^(%d+) (%d+) %d+ (%l+)$')
  if not count or tonumber(count) < 1 or tonumber(window) < 1 then return 0 end
  if kind == 'bucket' then
    local stored = redis.pcall('GET', root .. gate)
    local tokens, at = string.match(type(stored) == 'string' and stored or '', '^(%S+) (%S+)$')
    return tokens and math.ceil(tonumber(at) + (1 - tonumber(tokens)) * window / count) or 0
  end
  local since = string.format('(%.0f', now - window)
  local used = redis.pcall('ZCOUNT', root .. gate, since, '+inf')
  if type(used) ~= 'number' or used < tonumber(count) then return 0 end
  return redis.call('ZRANGEBYSCORE', root .. gate, since, '+inf', 'WITHSCORES', 'LIMIT', used - count, 1)[2] + window
end

-- When a lane may be served, nil if that depends on what happens.
local function lane_kept_until(group)
  local most = tonumber(field('glimit', group) or '')
  if redis.pcall('SISMEMBER', root .. 'paused', group) == 1
    or (most and (tonumber(field('gactive', group)) or 0) >= most) then
    return nil
  end
  local rate = field('grate', group)
  return rate and rate_opens('rate:lane:' .. group, rate) or 0
end

-- When the last of the gates opens that a job has before it, nil if that depends on what happens.
local function kept_until(group, name, key)
  local ceiling = tonumber(redis.call('HGET', meta, 'concurrency') or '')
  if ceiling and redis.call('ZCARD', active) >= ceiling then return nil end
  local last = 0
  if group then last = lane_kept_until(group) end
  if not last then return nil end
  for _, scope in ipairs({ 'queue', name and 'name:' .. name or '', key and 'key:' .. key or '' }) do
    local rules = string.match(scope, '^(key:[^/]*)/') or scope
    local ends = string.match(field('strikes', scope) or '', '^%S+')
    local most = tonumber(field('limits', 'cap:' .. rules) or '')
    if ends == '-' or (most and (tonumber(field('busy', 'cap:' .. scope)) or 0) >= most) then return nil end
    local rate = field('limits', 'rate:' .. rules)
    last = math.max(last, tonumber(ends) or 0, rate and rate_opens('rate:' .. scope, rate) or 0)
  end
  return last
end

local due = redis.call('ZSCORE', schedule, id)
if due then return { now, 'scheduled', due, 0, '', paused } end
if redis.call('ZSCORE', active, id) then return { now, 'active', '', 0, '', paused } end
local row = redis.pcall('HMGET', root .. 'job:' .. id, 'held', 'group', 'name', 'key')
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
local opens = kept_until(row[2], row[3], row[4])
if not opens then return { now, 'kept', '', before, '', paused } end
return { now, 'waiting', opens > now and string.format('%.0f', opens) or '', before, rule_of('rate:queue'), paused }
