-- How many active jobs hold a slot of each cap, counted; nil if there are too many to count at one moment.
--! needs root active
--! include check
local busy_key = root .. 'busy'

local function count_slots(most)
  local size, told = redis.pcall('ZCARD', active), redis.pcall('HLEN', busy_key)
  if type(size) ~= 'number' or type(told) ~= 'number' or size > most or told > most then return nil end
  local held = {}
  local is_capped = redis.call('EXISTS', busy_key, root .. 'limits') > 0
  for _, id in ipairs(is_capped and redis.call('ZRANGE', active, 0, -1) or {}) do
    local slots = redis.pcall('HGET', root .. 'job:' .. id, 'slots')
    for gate in string.gmatch(type(slots) == 'string' and slots or '', '%S+') do
      held[gate] = (held[gate] or 0) + 1
    end
  end
  return held
end

-- The caps whose count is not the truth, each with what is told and what is so.
local function wrong_slots(most)
  local held, found = count_slots(most), {}
  local told = held and redis.call('HGETALL', busy_key) or {}
  for i = 1, #told, 2 do
    local really = held[told[i]] or 0
    if told[i + 1] ~= tostring(really) then found[#found + 1] = { told[i], told[i + 1], really } end
    if held then held[told[i]] = nil end
  end
  for gate, really in pairs(held or {}) do found[#found + 1] = { gate, '0', really } end
  return found
end
