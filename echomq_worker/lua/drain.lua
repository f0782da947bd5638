-- Remove at most `limit` of the jobs that wait in a queue, with all that belongs to them; their parents and
-- occurrences are told. Lanes are left alone, and so is what runs or is dead. Safe to repeat.
--
--! keys root pending schedule dead dead_at bell log
--! args limit scheduled log_size
--! include removal priority side check
--
-- `scheduled`: 1 to remove what is due later too. Replies { removed, left }.

if not whole(limit, 1) then return bad_argument('limit') end
local wrong = wrong_type({ pending, 'zset', schedule, 'zset', dead, 'zset', dead_at, 'zset', bell, 'list' })
  or wrong_side_key() or wrong_log()
if wrong then return wrong end

local GATES = 10000
local room, left = tonumber(limit), 0
local ids = {}

local function drain(place)
  local found = room > 0 and redis.pcall('ZRANGE', place, 0, room - 1) or {}
  if not found.err and #found > 0 then
    redis.call('ZREM', place, unpack(found))
    for _, id in ipairs(found) do ids[#ids + 1] = id end
    room = room - #found
  end
  local rest = redis.pcall('ZCARD', place)
  if type(rest) == 'number' then left = left + rest end
  return rest
end

-- A gate where nobody waits any more goes, so that the next call comes to those behind it. What a lane or
-- the whole queue waits for has nobody parked, and stays.
local function drain_parked(gate)
  local parked = root .. 'parked:' .. gate
  if redis.call('EXISTS', parked) == 1 and drain(parked) == 0 then redis.call('ZREM', gates_key, gate) end
end

drain(pending)
drain(prioritized)
if scheduled == '1' then drain(schedule) end
for _, gate in ipairs(redis.call('ZRANGE', gates_key, 0, GATES - 1)) do drain_parked(gate) end
remove_jobs(ids)
settle_down()
return { #ids, left }
