-- A scheduler: its hash, and how its names and instants are spelled.
--! needs root
--! include check
local function scheduler_key(name)
  return root .. 'scheduler:' .. name
end

local function scheduler_name(text)
  return #text > 0 and #text <= 200 and string.find(text, '^[!-~]+$')
end

-- Milliseconds as they are stored: digits, or '' for none.
local function ms_text(text)
  return text and (text == '' or (#text <= 15 and string.find(text, '^%d+$')))
end

-- A computed number as it is stored: never in the form 1e+15.
local function digits(number)
  return string.format('%.0f', number)
end
