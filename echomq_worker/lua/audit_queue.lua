-- How a queue stands as a whole. Reads only.
--
--! keys root pending active schedule meta workers outbox quarantine repeat_set lane_actives ring schedulers
--! args
--! include time
--
-- Replies { now, paused, waiting (jobs, and lanes with jobs), first lease end, first due time, workers alive, entries in the outbox,
-- its first entry, entries in quarantine, the newest one's reason, lanes, repeats, when the first scheduler
-- and the first repeat fire, versions of the workers' time zone data }; '' stands for none.

local SLICE = 999
local function asked(reply)
  return type(reply) == 'table' and reply.err and {} or reply
end
local function number(reply) return type(reply) == 'number' and reply or 0 end
local function text(reply) return type(reply) == 'string' and reply or '' end

local alive, zone_data, seen = 0, {}, {}
for _, id in ipairs(asked(redis.pcall('ZREVRANGE', workers, 0, SLICE))) do
  alive = alive + redis.call('EXISTS', root .. 'worker:' .. id)
  local version = redis.pcall('HGET', root .. 'worker:' .. id, 'tz')
  if type(version) == 'string' and not seen[version] then
    seen[version] = true
    zone_data[#zone_data + 1] = version
  end
end
local reason = ''
local newest = asked(redis.pcall('XREVRANGE', quarantine, '+', '-', 'COUNT', 1))[1]
for i = 1, newest and #newest[2] or 0, 2 do
  if newest[2][i] == 'reason' then reason = newest[2][i + 1] end
end
local prioritized = number(asked(redis.pcall('ZCARD', root .. 'prioritized')))
local waiting = number(asked(redis.pcall('ZCARD', pending))) + prioritized + number(asked(redis.pcall('LLEN', ring)))
local lanes = {}
for _, lane in ipairs(asked(redis.pcall('LRANGE', ring, 0, SLICE))) do lanes[#lanes + 1] = lane end
if number(asked(redis.pcall('HLEN', lane_actives))) <= SLICE then
  for _, lane in ipairs(asked(redis.pcall('HKEYS', lane_actives))) do lanes[#lanes + 1] = lane end
end
return {
  now, number(asked(redis.pcall('HEXISTS', meta, 'paused'))), waiting,
  asked(redis.pcall('ZRANGE', active, 0, 0, 'WITHSCORES'))[2] or '',
  asked(redis.pcall('ZRANGE', schedule, 0, 0, 'WITHSCORES'))[2] or '',
  alive, number(asked(redis.pcall('LLEN', outbox))), text(asked(redis.pcall('LINDEX', outbox, 0))),
  number(asked(redis.pcall('XLEN', quarantine))), reason, lanes, asked(redis.pcall('ZRANGE', repeat_set, 0, SLICE)),
  asked(redis.pcall('ZRANGE', schedulers, 0, 0, 'WITHSCORES'))[2] or '',
  asked(redis.pcall('ZRANGE', repeat_set, 0, 0, 'WITHSCORES'))[2] or '', zone_data,
}
