-- Arguments and key types are checked before the first write: Redis does not roll back.
local function whole(text, low)
  local number = tonumber(text)
  if number and number == math.floor(number) and number >= low and number < 9007199254740992 then
    return number
  end
  return nil
end

local function bad_argument(name)
  return redis.error_reply('EMQARG ' .. name .. ' is not a whole number in range')
end

local function wrong_type(wanted)
  for i = 1, #wanted, 2 do
    local kind = redis.call('TYPE', wanted[i])['ok']
    if kind ~= 'none' and kind ~= wanted[i + 1] then
      return redis.error_reply(
        'WRONGTYPE ' .. wanted[i] .. ' holds a ' .. kind .. ', expected a ' .. wanted[i + 1]
      )
    end
  end
  return nil
end

-- Compared byte by byte: how Lua orders texts depends on the server's locale.
local HIGHEST_ID = 'JOBAzL8n0Y58m7'
local function job_id(text)
  if #text ~= 14 or not string.find(text, '^JOB[0-9A-Za-z]+$') then return false end
  for i = 4, 14 do
    local digit, highest = string.byte(text, i), string.byte(HIGHEST_ID, i)
    if digit ~= highest then return digit < highest end
  end
  return true
end

-- For keys that are seldom there: one EXISTS stands for all of them.
local function wrong_rare_type(wanted)
  local keys = {}
  for i = 1, #wanted, 2 do keys[#keys + 1] = wanted[i] end
  if redis.call('EXISTS', unpack(keys)) == 0 then return nil end
  return wrong_type(wanted)
end
