-- Count anew how many active jobs hold a slot of each cap. A runtime that knows nothing of caps may have
-- completed a job and left its slots taken. Safe to repeat.
--
--! keys root pending active meta bell clock
--! args most
--! include time waiting gates side check
--
-- `most` is how many active jobs, and counts, are looked at: with more of them nothing is done. Replies how many
-- counts were wrong.

local busy_key = root .. 'busy'
local wrong = wrong_type({ pending, 'zset', active, 'zset', meta, 'hash', bell, 'list', clock, 'list' })
  or wrong_side_key()
if wrong then return wrong end
if not whole(most, 1) then return bad_argument('most') end
if redis.call('ZCARD', active) > tonumber(most) or redis.call('HLEN', busy_key) > tonumber(most) then return 0 end

local told = redis.call('HGETALL', busy_key)
local held = {}
for _, id in ipairs(#told > 0 and redis.call('ZRANGE', active, 0, -1) or {}) do
  local slots = redis.pcall('HGET', root .. 'job:' .. id, 'slots')
  for gate in string.gmatch(type(slots) == 'string' and slots or '', '%S+') do
    held[gate] = (held[gate] or 0) + 1
  end
end

local corrected = 0
for i = 1, #told, 2 do
  local gate, count = told[i], held[told[i]] or 0
  if tonumber(told[i + 1]) ~= count then
    corrected = corrected + 1
    if count > 0 then
      redis.call('HSET', busy_key, gate, count)
    else
      redis.call('HDEL', busy_key, gate)
    end
    ask_gates_again(gate)
  end
end
return corrected
