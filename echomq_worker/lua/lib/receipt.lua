-- The receipt of a caller's last call, so that a call can be asked again and changes nothing twice.
-- A caller has one call in flight and numbers its calls. A call that is asked again always leaves
-- a receipt, so that its original, should it arrive late, finds one and does nothing.
--! needs root caller call_number again
--! include check
local RECEIPT_MS = 600000
local receipt = root .. 'call:' .. caller

local refusal = 'EMQLATE a later call of this caller has been answered already'

-- Returns nil for a new call, the earlier answer for a repeat, false for a call to refuse.
local function earlier_answer()
  if caller == '' then return nil end
  local kept = redis.pcall('GET', receipt)
  if type(kept) == 'table' then
    refusal = wrong_type({ receipt, 'string' })['err']
    return false
  end
  if not kept then return nil end
  local number, answer = string.match(kept, '^(%d+) (.*)$')
  number = tonumber(number)
  if not number or number < tonumber(call_number) then return nil end
  if number > tonumber(call_number) then return false end
  return answer
end

local function keep_answer(answer, changed)
  if caller ~= '' and (changed or again == '1') then
    -- A full server refuses a script whose first write needs memory, even one that changed nothing.
    if not changed then redis.call('DEL', receipt) end
    redis.call('SET', receipt, call_number .. ' ' .. answer, 'PX', RECEIPT_MS)
  end
end
