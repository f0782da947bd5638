-- Admit a job under a key of uniqueness, or do with the holder of that key what `mode` says: `reject` leaves it
-- alone, `replace` gives it the new payload if it has not begun, `debounce` that and another `wait`, no
-- longer than `most` ms after the first; `keep-latest` as replace, and if it runs, one job is kept that
-- starts when it ends.
--
--! keys root pending active schedule dead dead_at bell clock log
--! args caller call_number again dedup mode wait most release ttl due_mode due_ms id payload log_size
--! rest fields
--! include time receipt waiting schedule unique expiry lane_max side log check
--
-- `release`: what sets the key free, `start`, `finish` or `ttl` (after `ttl` ms). `due_mode` is '', `in` or `at`.
-- `fields`: names and values of the row. Replies { what became of it, whose id }: 1 admitted, 2 admitted to
-- `schedule`, 0 there is a job of this id, h held by another, r its payload is the new one, p it was postponed
-- too, k kept until it ends, f its lane is full.

local earlier = earlier_answer()
if earlier then return { string.match(earlier, '^(%S+) (%S+)$') } end
if earlier == false then return redis.error_reply(refusal) end
local wrong = wrong_type({
  pending, 'zset', active, 'zset', schedule, 'zset', dead, 'zset', dead_at, 'zset', bell, 'list', clock, 'list',
  root .. 'de:' .. dedup, 'string', root .. 'parked:unique:' .. dedup, 'zset',
}) or wrong_side_key() or wrong_log()
if wrong then return wrong end
for name, text in pairs({ wait = wait, most = most, ttl = ttl }) do
  if not whole(text, 0) then return bad_argument(name) end
end
if due_mode ~= '' and not whole(due_ms, due_mode == 'in' and 0 or -9007199254740991) then
  return bad_argument('due time')
end
local count = #ARGV - fields + 1
local bad = bad_expiry(fields, count)
if bad then return bad end
if not job_id(id) then return redis.error_reply('EMQKIND job id must be JOB-namespaced') end

local function value_of(name)
  for i = fields, #ARGV, 2 do
    if ARGV[i] == name then return ARGV[i + 1] end
  end
  return nil
end

local group = value_of('group')
if group and not string.find(group, '^%u%u%u%w%w%w%w%w%w%w%w%w%w%w$') then return bad_argument('group') end

local function write_row(state, due)
  redis.call('HSET', root .. 'job:' .. id, 'state', state, 'attempts', '0', 'payload', payload,
    'uniq', dedup, 'release', release, 'more', '1', row_fields(fields, count, due))
end

local function admit()
  local due = due_mode == 'in' and due_after(tonumber(due_ms)) or tonumber(due_ms)
  if mode == 'debounce' then due = due_after(tonumber(wait)) end
  if due_mode == '' and mode ~= 'debounce' then
    if group and lane_refuses(group) then return 'f' end
    write_row('pending', now)
    put_waiting(id, group, true)
    if group then drop_oldest(group, id) end
    note('enqueued', id, 0)
  else
    write_row('scheduled', math.max(due, now))
    if mode == 'debounce' then redis.call('HSET', root .. 'job:' .. id, 'first', now) end
    put_scheduled(id, due)
    note('scheduled', id, 0)
  end
  hold_key(dedup, id, release == 'ttl' and tonumber(ttl) or 0)
  return due_mode == '' and mode ~= 'debounce' and '1' or '2'
end

-- Who is to handle it, and what limits count it under, belong to the payload.
local function replace(holder)
  local row = root .. 'job:' .. holder
  redis.call('HSET', row, 'payload', payload)
  for _, name in ipairs({ 'name', 'key' }) do
    local value = value_of(name)
    if value then redis.call('HSET', row, name, value) else redis.call('HDEL', row, name) end
  end
  return 'r'
end

local function postpone(holder)
  replace(holder)
  if not redis.call('ZSCORE', schedule, holder) then return 'r' end
  local row = root .. 'job:' .. holder
  local said = redis.call('HMGET', row, 'first', 'expires_in')
  local due = due_after(tonumber(wait))
  if tonumber(most) > 0 then due = math.min(due, math.max(now, (tonumber(said[1]) or now) + most)) end
  if said[2] and whole(said[2], 0) then redis.call('HSET', row, 'expires', string.format('%.0f', due + said[2])) end
  put_scheduled(holder, due)
  return 'p'
end

-- The job that starts when the holder has ended: the latest arguments are its, even if the holder is to run
-- once more before.
local function kept_job()
  local kept = redis.pcall('ZRANGE', root .. 'parked:unique:' .. dedup, 0, 0)[1]
  return kept and redis.call('EXISTS', root .. 'job:' .. kept) == 1 and kept
end

local function keep_for_later()
  write_row('pending', now)
  park_for_key(id, dedup)
  note('enqueued', id, 0)
  return 'k', id
end

local function decide()
  if redis.call('EXISTS', root .. 'job:' .. id) == 1 then return '0', id end
  local holder, state = key_holder(dedup)
  if not holder then return admit(), id end
  local has_begun = state == 'active' or state == 'gone' or redis.call('ZSCORE', active, holder)
  local kept = mode ~= 'reject' and kept_job()
  if kept then return replace(kept), kept end
  if mode == 'keep-latest' and has_begun and state ~= 'gone' then return keep_for_later() end
  if mode == 'reject' or has_begun then return 'h', holder end
  if mode == 'debounce' then return postpone(holder), holder end
  return replace(holder), holder
end

local verdict, winner = decide()
settle_down()
nudge_watcher()
keep_answer(verdict .. ' ' .. winner, true)
return { verdict, winner }
