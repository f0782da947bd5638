-- How some lanes stand, at one moment. Reads only.
--
--! keys root active
--! args
--! rest names
--! include lanes lane_truth
--
-- Replies { lane, waiting, 1 if in the ring, 1 if paused or if its rate keeps it back, its ceiling, counted as
-- active, really active } of each; '' stands for none, and for what could not be counted.

local truth = count_actives()
local function text(reply) return type(reply) == 'string' and reply or '' end
local function stopped(lane)
  return redis.pcall('SISMEMBER', root .. 'paused', lane) == 1
    or text(redis.pcall('ZSCORE', root .. 'gates', 'rate:lane:' .. lane)) ~= ''
end
local found = {}
for at = names, #ARGV do
  local lane = ARGV[at]
  local waiting = redis.pcall('ZCARD', lane_key(lane))
  found[#found + 1] = {
    lane, type(waiting) == 'number' and waiting or 0,
    type(redis.pcall('LPOS', lane_ring, lane)) == 'number' and 1 or 0,
    stopped(lane) and 1 or 0,
    text(redis.pcall('HGET', root .. 'glimit', lane)), text(redis.pcall('HGET', lane_actives, lane)),
    truth and (truth[lane] or 0) or '',
  }
end
return found
