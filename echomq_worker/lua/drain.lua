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

local places = { pending, prioritized }
local shut = redis.call('ZRANGE', root .. 'gates', 0, 999)
for _, gate in ipairs(shut) do places[#places + 1] = root .. 'parked:' .. gate end
if scheduled == '1' then places[#places + 1] = schedule end

local room, left = tonumber(limit), 0
local ids = {}
for _, place in ipairs(places) do
  local found = room > 0 and redis.pcall('ZRANGE', place, 0, room - 1) or {}
  if not found.err and #found > 0 then
    redis.call('ZREM', place, unpack(found))
    for _, id in ipairs(found) do ids[#ids + 1] = id end
    room = room - #found
  end
  local rest = redis.pcall('ZCARD', place)
  if type(rest) == 'number' then left = left + rest end
end
remove_jobs(ids)
settle_down()
return { #ids, left }
