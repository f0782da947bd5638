-- Count anew how many active jobs hold a slot of each cap. A runtime that knows nothing of caps may have
-- completed a job and left its slots taken. Safe to repeat.
--
--! keys root pending active meta bell clock
--! args gate most
--! include time waiting gates side slot_truth check
--
-- `gate` is '' for all. `most` is how many active jobs, and counts, are looked at: with more of them nothing is
-- done. Replies how many counts were wrong.

local wrong = wrong_type({ pending, 'zset', active, 'zset', meta, 'hash', bell, 'list', clock, 'list' })
  or wrong_side_key()
if wrong then return wrong end
if not whole(most, 1) then return bad_argument('most') end

local corrected = 0
for _, count in ipairs(wrong_slots(tonumber(most))) do
  local name, really = count[1], count[3]
  if gate == '' or gate == name then
    corrected = corrected + 1
    if really > 0 then
      redis.call('HSET', busy_key, name, really)
    else
      redis.call('HDEL', busy_key, name)
    end
    ask_gates_again(name)
  end
end
return corrected
