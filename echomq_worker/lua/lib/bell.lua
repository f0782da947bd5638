-- Tell sleeping workers of flat work: a token each, never more than the cap in the list.
--! needs bell
local BELL_CAP = 64

local function ring_bell(jobs)
  if jobs <= 0 then return end
  local tokens = math.min(jobs, BELL_CAP - redis.call('LLEN', bell))
  if tokens <= 0 then return end
  local rung = {}
  for i = 1, tokens do rung[i] = '1' end
  redis.call('LPUSH', bell, unpack(rung))
end
