-- Set the rule of a gate, or take it away if `rule` is ''. Whoever waits at it asks again. The limits of the
-- whole queue are told to peers too, in `meta`. Safe to repeat.
--
--! keys root pending active meta bell clock
--! args kind scope rule most
--! include time waiting gates side check
--
-- `most` is how many rules a queue may have. Replies 1 changed, 0 as it was, 2 too many.

local wrong = wrong_type({ pending, 'zset', active, 'zset', meta, 'hash', bell, 'list', clock, 'list' })
  or wrong_side_key()
if wrong then return wrong end
if not whole(most, 1) then return bad_argument('most') end

local PEERS = { rate = 'max', cap = 'concurrency' }
local gate = kind .. ':' .. scope
local group = string.match(scope, '^lane:(.*)$')
local key, field = root .. 'limits', gate
if group then key, field = root .. 'grate', group end
if scope == 'queue' and kind == 'cap' then key, field = meta, 'concurrency' end

-- Jobs of ours that are active already count under a new cap, each with a slot of its own.
local COUNTED = 10000
local function count_active()
  for _, id in ipairs(redis.call('ZRANGE', active, 0, COUNTED - 1)) do
    local row = redis.pcall('HMGET', root .. 'job:' .. id, 'claim', 'name', 'key', 'slots')
    local own = row[2] and scope == 'name:' .. row[2] and gate
    if row[3] and string.match('key:' .. row[3], '^(key:[^/]*)/') == scope then own = 'cap:key:' .. row[3] end
    local slots = row[4] or ''
    if row[1] and own and not string.find(' ' .. slots .. ' ', ' ' .. own .. ' ', 1, true) then
      redis.call('HSET', root .. 'job:' .. id, 'slots', slots == '' and own or slots .. ' ' .. own)
      redis.call('HINCRBY', root .. 'busy', own, 1)
    end
  end
end

local before = redis.call('HGET', key, field) or ''
if before == rule then return 0 end
if rule == '' then
  redis.call('HDEL', key, field)
  if scope == 'queue' then redis.call('HDEL', meta, PEERS[kind]) end
else
  if key == root .. 'limits' and before == '' and redis.call('HLEN', key) >= tonumber(most) then return 2 end
  redis.call('HSET', key, field, rule)
  if scope == 'queue' and kind == 'rate' then redis.call('HSET', meta, 'max', string.match(rule, '^%d+')) end
end
-- What has started counts on under another rule of the same kind.
if string.match(before, '%l+$') ~= string.match(rule, '%l+$') then redis.call('DEL', root .. gate) end
if kind == 'cap' and before == '' and key ~= meta then count_active() end
ask_gates_again(string.match(gate, '^%l+:key:.*$') and gate .. '/' or gate)
return 1
