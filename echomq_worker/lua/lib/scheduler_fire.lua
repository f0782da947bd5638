-- Firing: first what is to be done with every scheduler is decided by reading, then all is written.
--! needs root pending schedulers bell log_size firings
--! include time scheduler scheduler_job scheduler_runs waiting log check
local MOST_SCHEDULERS, MOST_OCCURRENCES, MOST_BYTES = 500, 1000, 2097152
-- A predecessor may end without a word to us: in the hands of a peer.
local HELD_LOOK_MS = 10000
local BOOKS = { 'digest', 'next', 'paused', 'last', 'held', 'overlap', 'live', 'runs', 'count', 'missed', 'skipped',
  'tz', 'limit' }
local WANTED = { unpack(BOOKS) }
for _, field in ipairs(TEMPLATE) do WANTED[#WANTED + 1] = field end

-- One scheduler of the call: name, expected next, digest, next, wake, tz, ended, missed, k, and k times
-- an id and an instant.
local function read_firing(at)
  local pairs_of = whole(ARGV[at + 8] or '', 0)
  if not pairs_of or pairs_of > MOST_OCCURRENCES or at + 8 + 2 * pairs_of > #ARGV then return nil end
  local firing = {
    name = ARGV[at], expected = ARGV[at + 1], digest = ARGV[at + 2], instant = ARGV[at + 3],
    wake = ARGV[at + 4], tz = ARGV[at + 5], ended = ARGV[at + 6], missed = whole(ARGV[at + 7], 0),
    first = at + 9, past = at + 9 + 2 * pairs_of, size = pairs_of,
  }
  local good = firing.missed and ms_text(firing.expected) and ms_text(firing.instant) and ms_text(firing.wake)
  for i = firing.first, firing.past - 1, 2 do
    good = good and job_id(ARGV[i]) and ARGV[i + 1] ~= '' and ms_text(ARGV[i + 1])
  end
  return good and firing
end

local function read_firings()
  local found, occurrences, at = {}, 0, firings
  while at <= #ARGV do
    local firing = read_firing(at)
    if not firing then return nil, bad_argument('firing') end
    found[#found + 1] = firing
    occurrences = occurrences + firing.size
    at = firing.past
  end
  if #found > MOST_SCHEDULERS or occurrences > MOST_OCCURRENCES then return nil, bad_argument('firings') end
  return found, wrong_type({ pending, 'zset', schedulers, 'zset', bell, 'list' }) or wrong_log()
end

-- What one occurrence becomes, by the state that the ones before have left.
local function decide(state, instant)
  local held = state.held == instant
  if not held and state.last and tonumber(instant) <= state.last then return 'd' end
  if state.limit and state.count + #state.fired >= state.limit then return 'd' end
  state.last = math.max(state.last or 0, tonumber(instant))
  local overlaps = #state.live > 0
  if overlaps and state.overlap == 'queue-one' then
    if state.held and not held then state.skipped = state.skipped + 1 end
    state.held = instant
    return 'q'
  end
  if held then state.held = nil end
  if overlaps and state.overlap == 'skip' then
    state.skipped = state.skipped + 1
    return 's'
  end
  return '1'
end

local function decide_all(firing, row)
  local guarded = row[6] == 'skip' or row[6] == 'queue-one'
  local runs = read_runs(row[8])
  local state = {
    last = tonumber(row[4]), held = row[5], overlap = row[6], runs = runs,
    live = guarded and predecessors(scheduler_key(firing.name), row[7], runs) or {},
    count = tonumber(row[9]) or 0, missed = tonumber(row[10]) or 0,
    skipped = 0, had_skipped = tonumber(row[11]) or 0, tz = row[12], limit = tonumber(row[13]), fired = {},
    had_live = row[7], had_held = row[5],
  }
  local verdicts = {}
  for i = firing.first, firing.past - 1, 2 do
    local id, instant = ARGV[i], ARGV[i + 1]
    local verdict = decide(state, instant)
    if verdict == '1' then
      state.fired[#state.fired + 1] = { id, instant }
      if guarded then state.live[#state.live + 1] = id end
      add_run(state.runs, instant, string.format('%s fired %.0f', id, now))
    end
    verdicts[#verdicts + 1] = verdict
  end
  if state.held and firing.ended == 'limit' then
    state.held, state.skipped = nil, state.skipped + 1
  end
  return state, table.concat(verdicts)
end

-- Whether this scheduler may be fired now: nil, or the word that says why not.
local function refused(firing, row, call)
  local changed = row.err or row[1] ~= firing.digest or row[2] ~= firing.expected
  -- A paused one that wakes would be read at each beat.
  firing.rests = not changed and row[3]
  if changed or row[3] or call.names[firing.name] then return 'x' end
  for i = firing.first, firing.past - 1, 2 do
    local id = ARGV[i]
    if call.ids[id] or redis.call('EXISTS', root .. 'job:' .. id) == 1 then return 'i' end
  end
  firing.template = {}
  for i = 1, #TEMPLATE do firing.template[i] = row[#BOOKS + i] end
  local bytes = #(firing.template[1] or '') * firing.size
  if call.bytes > 0 and call.bytes + bytes > MOST_BYTES then
    call.full = true
    return 'l'
  end
  call.bytes = call.bytes + bytes
  return nil
end

-- Only what changes is written: a hash of many fields is searched for each of them.
local function write_books(firing, state)
  local set, gone = { 'next', firing.instant }, {}
  local function put(field, value)
    set[#set + 1] = field
    set[#set + 1] = value
  end
  local function keep(field, value, was)
    if value and value ~= '' then
      if value ~= was then put(field, value) end
    elseif was then
      gone[#gone + 1] = field
    end
  end
  if state.last then put('last', digits(state.last)) end
  if #state.fired > 0 then
    put('count', digits(state.count + #state.fired))
    prune_runs(state.runs, set, gone)
  end
  if firing.missed > 0 then put('missed', digits(state.missed + firing.missed)) end
  if state.skipped > 0 then put('skipped', digits(state.had_skipped + state.skipped)) end
  if firing.tz ~= state.tz then put('tz', firing.tz) end
  if firing.ended ~= '' then put('ended', firing.ended) end
  keep('held', state.held, state.had_held)
  keep('live', table.concat(state.live, ' '), state.had_live)
  local key = scheduler_key(firing.name)
  redis.call('HSET', key, unpack(set))
  if #gone > 0 then redis.call('HDEL', key, unpack(gone)) end
end

local function next_wake(firing, state)
  local wake = firing.instant ~= '' and firing.wake ~= '' and tonumber(firing.wake) or nil
  if state.held then wake = math.min(wake or now + HELD_LOOK_MS, now + HELD_LOOK_MS) end
  return wake and digits(wake) or '+inf'
end

-- The first write needs memory, so that a full server refuses all of it.
local function fire_one(firing)
  local state = firing.state
  for _, job in ipairs(state.fired) do make_job(job[1], firing.name, job[2], firing.template) end
  write_books(firing, state)
  redis.call('ZADD', schedulers, next_wake(firing, state), firing.name)
end
