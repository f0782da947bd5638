-- Gates: what a job that is ready may have to pass before it is claimed. A rate, a cap on how many are
-- active, a strike (somebody has stopped such jobs). Whoever finds its gate shut is parked there, once,
-- under the score it had, and comes back to its place when the gate opens: by time, for which `gates`
-- holds the instant, or by what happens (+inf).
--! needs root active bell clock
--! include time parking rates strikes
local gated, find_gates, limit_of, park, pass_gates, shut_gate
local write_gates, open_gates, leave_gates, queue_room, pass_queue, ask_gates_again
local park_struck
do
  local limits_key, strikes_key = root .. 'limits', root .. 'strikes'
  local busy_key = root .. 'busy'
  local AT_ONCE, GATES_AT_ONCE, LOOKED_AT, AGAIN_MS = 100, 16, 2, 1000
  local QUEUE_GATES = { 'strike:queue', 'rate:queue' }
  local limits, doors, shut = {}, {}, {}
  gated = redis.call('EXISTS', limits_key, strikes_key, gates_key, root .. 'grate') > 0

  local function glob(text)
    return (string.gsub(text, '[][*?\\^-]', '\\%0'))
  end

  local function read_hash(key)
    local flat = redis.pcall('HGETALL', key)
    return flat.err and {} or flat
  end

  if gated then
    local flat = read_hash(limits_key)
    for i = 1, #flat, 2 do limits[flat[i]] = flat[i + 1] end
    read_strikes(read_hash(strikes_key))
  end

  -- The rule for `key:<limit>/<value>` is that of `key:<limit>`; lanes have theirs in `grate`.
  function limit_of(kind, scope)
    local group = string.match(scope, '^lane:(.*)$')
    if group then return redis.call('HGET', root .. 'grate', group) end
    return limits[kind .. ':' .. (string.match(scope, '^(key:[^/]*)/') or scope)]
  end

  -- What this call knows of a gate. What it counts is written once, by `write_gates`.
  local function door_of(gate)
    if not doors[gate] then
      local kind, scope = string.match(gate, '^(%l+):(.*)$')
      doors[gate] = { gate = gate, kind = kind, scope = scope }
    end
    return doors[gate]
  end

  local function count_busy(door, by)
    door.busy = math.max(0, (door.busy or tonumber(redis.call('HGET', busy_key, door.gate)) or 0) + by)
    door.changed = door.changed or by ~= 0
  end

  -- How many may pass now.
  local function door_room(door)
    if door.cap then return door.cap - door.busy end
    if door.kind == 'strike' then return strike_end(door.scope) and 0 or math.huge end
    local rule = limit_of(door.kind, door.scope)
    if not rule then return math.huge end
    if door.kind == 'rate' then return math.floor(rate_of(door.gate, rule).free) end
    count_busy(door, 0)
    door.cap = tonumber(rule) or math.huge
    return door.cap - door.busy
  end

  local function gate_room(gate)
    return math.max(0, door_room(door_of(gate)))
  end

  -- When a gate opens by itself, with `spent` of its room spoken for. One without a rule is open. A cap
  -- opens when a slot is given back; but whoever was let through may have gone elsewhere, and left one free.
  local function opens_at(gate, spent)
    local door = door_of(gate)
    local rule, at = limit_of(door.kind, door.scope), now
    if door.kind == 'strike' then
      at = strike_end(door.scope) or now
    elseif rule and door.kind == 'rate' then
      at = next_token_at(rate_of(gate, rule), spent)
    elseif rule then
      at = door_room(door) > 0 and now + AGAIN_MS or math.huge
    end
    return at == math.huge and '+inf' or string.format('%.0f', at)
  end

  local function scopes_of(name, key)
    local scopes = {}
    if name then scopes[1] = 'name:' .. name end
    if key then scopes[#scopes + 1] = 'key:' .. key end
    return scopes
  end

  local ways = {}

  -- The gates on the way of a job, and the slots that it takes by passing; the same for all of its kind, so
  -- they are found once a call.
  local function way_of(name, key)
    local way = ways[name or 0] and ways[name or 0][key or 0]
    if way then return way end
    way = { slots = {} }
    for _, scope in ipairs(scopes_of(name, key)) do
      if strike_end(scope) then way[#way + 1] = door_of('strike:' .. scope) end
      if limit_of('cap', scope) then
        way[#way + 1] = door_of('cap:' .. scope)
        way.slots[#way.slots + 1] = 'cap:' .. scope
      end
      if limit_of('rate', scope) then way[#way + 1] = door_of('rate:' .. scope) end
    end
    way.slots = table.concat(way.slots, ' ')
    ways[name or 0] = ways[name or 0] or {}
    ways[name or 0][key or 0] = way
    return way
  end

  -- Returns the first gate that is shut, or nil and the gates to pass.
  function find_gates(name, key)
    local way = way_of(name, key)
    for i = 1, #way do
      if door_room(way[i]) < 1 then return way[i].gate end
    end
    return nil, way
  end

  function park(id, score, gate)
    if type(redis.pcall('ZADD', root .. 'parked:' .. gate, score, id)) ~= 'number' then return false end
    redis.call('HSET', root .. 'job:' .. id, 'held', gate, 'more', '1')
    shut[gate] = 0
    return true
  end

  -- A worker has found that a job falls under such a strike. True if it still holds.
  function park_struck(id, scope, more)
    return strike_end(scope) ~= nil and park(id, more and rank_of(id) or 0, 'strike:' .. scope)
  end

  -- Take what the gates ask for; returns the slots that the job occupies now.
  function pass_gates(way, id, attempt)
    for i = 1, #way do
      local gate = way[i].gate
      if way[i].cap then
        count_busy(way[i], 1)
      else
        take_token(rate_of(gate), id .. ':' .. attempt)
        if shut[gate] and shut[gate] > 0 then shut[gate] = shut[gate] - 1 end
      end
    end
    return way.slots
  end

  -- Let at most AT_ONCE of those parked at a gate wait again, and tell when it opens for the others.
  local function release(gate)
    local room = math.min(gate_room(gate), AT_ONCE)
    local parked = root .. 'parked:' .. gate
    local popped = room > 0 and redis.pcall('ZPOPMIN', parked, room) or {}
    for i = 1, #popped, 2 do unpark(popped[i]) end
    if redis.call('EXISTS', parked) == 0 then
      redis.call('ZREM', gates_key, gate)
    else
      shut[gate] = #popped / 2
    end
  end

  -- A queue's gate and a lane's have nobody parked: the queue is told of it, the lane goes back to the ring.
  local function open_gate(gate)
    local group = string.match(gate, '^rate:lane:(.*)$')
    if group or string.find(gate, '^%l+:queue$') then
      redis.call('ZREM', gates_key, gate)
      if group then ring_backlog(group, true) end
      return ring_bell(1)
    end
    local key = string.match(gate, '^unique:(.*)$')
    if key then return pass_on_key(key) end
    local scope = string.match(gate, '^strike:(.*)$')
    if scope then end_strike(scope) end
    release(gate)
  end

  function shut_gate(gate)
    shut[gate] = 0
  end

  local function write_busy()
    for gate, door in pairs(doors) do
      if door.changed then
        if door.busy > 0 then
          redis.call('HSET', busy_key, gate, door.busy)
        else
          redis.call('HDEL', busy_key, gate)
        end
        door.changed = false
      end
    end
  end

  function write_gates()
    write_busy()
    if not gated then return end
    local head = next(shut) and redis.call('ZRANGE', gates_key, 0, 0, 'WITHSCORES')[2]
    for gate, spent in pairs(shut) do
      local at = opens_at(gate, spent)
      redis.call('ZADD', gates_key, at, gate)
      if tonumber(at) and tonumber(at) < (tonumber(head) or math.huge) and redis.call('LLEN', clock) == 0 then
        redis.call('LPUSH', clock, '1')
      end
    end
    write_rates()
    forget_strikes()
    shut = {}
  end

  -- The rule of a gate has changed: those that wait at it, or at one of each value of a key, ask again.
  -- So many gates are found in one call; the others open as their time comes, or when a slot is free.
  function ask_gates_again(gate)
    local prefix = string.sub(gate, -1) == '/' and gate
    if prefix then
      local found = redis.call('ZSCAN', gates_key, 0, 'MATCH', glob(prefix) .. '*', 'COUNT', 10000)[2]
      for i = 1, #found, 2 do redis.call('ZADD', gates_key, 0, found[i]) end
    elseif redis.call('EXISTS', root .. 'parked:' .. gate) == 1 or redis.call('ZSCORE', gates_key, gate) then
      redis.call('ZADD', gates_key, 0, gate)
    end
    if redis.call('LLEN', clock) == 0 then redis.call('LPUSH', clock, '1') end
    ring_bell(1)
  end

  -- No rate is shut for longer than its window: the clock has been set back. And nobody waits for the holder of
  -- a key that has gone unseen, such as one that a peer has completed.
  local function is_too_far(gate, at)
    local kind, scope = string.match(gate, '^(%l+):(.*)$')
    if kind == 'unique' then
      local holder = redis.pcall('GET', root .. 'de:' .. scope)
      local state = type(holder) == 'string' and redis.pcall('HGET', root .. 'job:' .. holder, 'state')
      return type(state) ~= 'string' or state == 'dead'
    end
    local rule = kind == 'rate' and at ~= math.huge and limit_of(kind, scope)
    return rule and at > now + (rate_of(gate, rule).window or 0) + 1
  end

  function open_gates()
    if not gated or redis.call('EXISTS', gates_key) == 0 then return end
    local due = redis.call('ZRANGEBYSCORE', gates_key, '-inf', now, 'LIMIT', 0, GATES_AT_ONCE)
    local any = redis.call('ZRANDMEMBER', gates_key, LOOKED_AT, 'WITHSCORES')
    for i = 1, #any, 2 do
      if is_too_far(any[i], tonumber(any[i + 1])) then due[#due + 1] = any[i] end
    end
    for gate, door in pairs(doors) do
      if door.changed and redis.call('ZSCORE', gates_key, gate) then due[#due + 1] = gate end
    end
    for _, gate in ipairs(due) do open_gate(gate) end
    if #due > 0 then settle_down() end
  end

  -- A job is no longer active: who waits for its slots may pass. `goes`: its row goes too.
  function leave_gates(id, slots, goes)
    if not goes then redis.call('HDEL', root .. 'job:' .. id, 'slots') end
    if not string.find(slots, ' ', 1, true) then return count_busy(door_of(slots), -1) end
    for gate in string.gmatch(slots, '%S+') do count_busy(door_of(gate), -1) end
  end

  -- How many of `wanted` the queue as a whole may start now. `ceiling` and `most` are the base wire's, and
  -- `limiter` counts for it what has started in a window.
  function queue_room(wanted, ceiling, most)
    if wanted == 0 then return 0 end
    local room = wanted
    if ceiling and whole(ceiling, 1) then room = math.min(room, math.max(0, ceiling - redis.call('ZCARD', active))) end
    if most and whole(most, 1) and (tonumber(redis.pcall('GET', root .. 'limiter')) or 0) >= tonumber(most) then
      redis.call('ZADD', gates_key, now + math.max(1, redis.call('PTTL', root .. 'limiter')), 'limiter:queue')
      return 0
    end
    for _, gate in ipairs(gated and QUEUE_GATES or {}) do room = math.min(room, gate_room(gate)) end
    return room
  end

  -- So many have started of what the queue as a whole may start. Its clock wakes whoever waits for more.
  function pass_queue(jobs, room, wanted)
    local rule = gated and limits['rate:queue']
    if rule then
      local rate = rate_of('rate:queue', rule)
      for _, job in ipairs(jobs) do take_token(rate, job[1] .. ':' .. job[2]) end
    end
    if not gated or #jobs < room or room >= wanted then return end
    for _, gate in ipairs(QUEUE_GATES) do
      if gate_room(gate) < 1 then shut[gate] = 0 end
    end
  end
end
