-- Everything about one job. Set membership, not the row's own word, says where it is. Reads only.
--
--! keys root pending active schedule dead dead_at
--! args id
--! include check
--
-- Replies { state, lease end, due, died, row as field and value }; '' stands for none.

local wrong = wrong_type({ pending, 'zset', active, 'zset', schedule, 'zset', dead, 'zset', dead_at, 'zset' })
if wrong then return wrong end

local row = redis.pcall('HGETALL', root .. 'job:' .. id)
if row.err then return { 'unknown', '', '', '', {} } end
if #row == 0 then return { 'absent', '', '', '', {} } end

local lease = redis.call('ZSCORE', active, id)
local due = redis.call('ZSCORE', schedule, id)
local state = 'unknown'
if redis.call('ZSCORE', pending, id) or type(redis.pcall('ZSCORE', root .. 'prioritized', id)) == 'string' then
  state = 'pending'
elseif lease then
  state = 'active'
elseif due then
  state = 'scheduled'
elseif redis.call('ZSCORE', dead, id) then
  state = 'dead'
elseif redis.call('HGET', root .. 'job:' .. id, 'state') == 'awaiting_children' then
  state = 'awaiting_children'
else
  local at = redis.call('HMGET', root .. 'job:' .. id, 'group', 'held')
  local lane = at[1] and redis.pcall('ZSCORE', root .. 'g:' .. at[1] .. ':pending', id)
  local gate = at[2] and redis.pcall('ZSCORE', root .. 'parked:' .. at[2], id)
  if type(lane) == 'string' or type(gate) == 'string' then state = 'pending' end
end
return { state, lease or '', due or '', redis.call('ZSCORE', dead_at, id) or '', row }
