-- How many jobs are where. Reads only.
--
--! keys root pending active schedule dead completed_count failed_count meta workers quarantine
--! args
--! include check
--
-- Replies { pending, active, scheduled, dead, completed, failed, paused, living workers, set aside, those of
-- the pending that have a priority, lanes that may be served, jobs kept back at the first 1,000 gates }.

local wrong = wrong_type({
  pending, 'zset', active, 'zset', schedule, 'zset', dead, 'zset', completed_count, 'hash', failed_count, 'hash',
  meta, 'hash', workers, 'zset', quarantine, 'stream', root .. 'prioritized', 'zset', root .. 'ring', 'list',
})
if wrong then return wrong end

-- A worker that was killed stays in the list for a while, but what it said about itself expires.
local living = {}
for i, id in ipairs(redis.call('ZRANGE', workers, 0, 999)) do living[i] = root .. 'worker:' .. id end

local kept_back = 0
local gates = redis.pcall('ZRANGE', root .. 'gates', 0, 999)
for _, gate in ipairs(gates.err and {} or gates) do
  local parked = redis.pcall('ZCARD', root .. 'parked:' .. gate)
  if type(parked) == 'number' then kept_back = kept_back + parked end
end

local prioritized = redis.call('ZCARD', root .. 'prioritized')
return {
  redis.call('ZCARD', pending) + prioritized,
  redis.call('ZCARD', active),
  redis.call('ZCARD', schedule),
  redis.call('ZCARD', dead),
  tonumber(redis.call('HGET', completed_count, 'count')) or 0,
  tonumber(redis.call('HGET', failed_count, 'count')) or 0,
  redis.call('HEXISTS', meta, 'paused'),
  #living > 0 and redis.call('EXISTS', unpack(living)) or 0,
  redis.call('XLEN', quarantine),
  prioritized,
  redis.call('LLEN', root .. 'ring'),
  kept_back,
}
