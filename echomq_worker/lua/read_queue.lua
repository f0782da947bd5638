-- The sets of a queue with the head of each. Reads only.
--
--! keys root
--! args head
--! include time check
--
-- Replies { now, paused, { suffix, how many, members and scores of the head } of each sorted set, the first lanes in
-- the rotation and how many there are, { lane, its name or '', waiting, active, ceiling or '' } of these }.

local SETS = { 'schedule', 'pending', 'prioritized', 'active', 'dead:at', 'gates', 'schedulers', 'repeat' }
if not whole(head, 1) or tonumber(head) > 100 then return bad_argument('head') end

local function number(reply)
  return type(reply) == 'number' and reply or 0
end

local found = {}
for i, suffix in ipairs(SETS) do
  local key = root .. suffix
  local first = redis.pcall('ZRANGE', key, 0, head - 1, 'WITHSCORES')
  found[i] = { suffix, number(redis.pcall('ZCARD', key)), first.err and {} or first }
end
local ring = redis.pcall('LRANGE', root .. 'ring', 0, head - 1)
local lanes = {}
for i, group in ipairs(ring.err and {} or ring) do
  lanes[i] = {
    group, redis.call('HGET', root .. 'lane:names', group) or '',
    number(redis.pcall('ZCARD', root .. 'g:' .. group .. ':pending')),
    redis.call('HGET', root .. 'gactive', group) or '', redis.call('HGET', root .. 'glimit', group) or '',
  }
end
local ready = number(redis.pcall('LLEN', root .. 'ring'))
return { now, number(redis.pcall('HEXISTS', root .. 'meta', 'paused')), found, ready, lanes }
