-- Forget a queue that has no jobs: its counters, its log, the list of its results, its limits and marks. A
-- queue that has jobs, or a scheduler or registration that makes some, is left alone. What expires by
-- itself (kept results, receipts) is left to do so.
--
--! keys root pending active schedule dead meta completed completed_count failed_count dead_at log quarantine bell clock pump workers
--! args
--
-- Replies 1, or 0 if it is left alone.

local gates = root .. 'gates'
local filled = { root .. 'prioritized', root .. 'ring', root .. 'paused', root .. 'gactive', root .. 'flow:outbox',
  root .. 'schedulers', root .. 'repeat' }
if redis.call('EXISTS', pending, active, schedule, dead, unpack(filled)) > 0 then return 0 end

-- What a gate keeps back waits there, or in the lane that it belongs to.
local SHUT = 1000
local shut = redis.pcall('ZRANGE', gates, 0, SHUT)
if #shut > SHUT then return 0 end
for _, gate in ipairs(shut.err and {} or shut) do
  local group = string.match(gate, '^rate:lane:(.*)$')
  local place = group and 'g:' .. group .. ':pending' or 'parked:' .. gate
  if redis.call('EXISTS', root .. place) == 1 then return 0 end
end

local settings = {}
for i, name in ipairs({ 'pc', 'turn', 'wake', 'limits', 'strikes', 'busy', 'limiter', 'glimit', 'gweight', 'gcredit',
  'gmax', 'grate', 'lane:names', 'lane:pauses',
  'lane:first' }) do
  settings[i] = root .. name
end
redis.call('UNLINK', meta, completed, completed_count, failed_count, dead_at, log, quarantine, bell, clock,
  pump, workers, gates, unpack(settings))
return 1
