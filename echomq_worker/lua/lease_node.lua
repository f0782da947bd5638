-- Lease a node number to a worker that mints ids, or renew the one it has. A number whose lease has run
-- out is free. A renewal names the end of the lease it renews, so that nobody renews another's.
--
--! keys nodes
--! args node lease_end lease_ms first
--! include time check
--
-- `node` and `lease_end` are '' for a new lease; `first` is where the search begins. Replies
-- { node, lease end }, or { -1, 0 } when all 1024 are taken or the lease was lost.

if not whole(lease_ms, 1) then return bad_argument('lease_ms') end
if not whole(first, 0) then return bad_argument('first') end
local wrong = wrong_type({ nodes, 'zset' })
if wrong then return wrong end

redis.call('ZREMRANGEBYSCORE', nodes, '-inf', now)
local until_ms = now + lease_ms
if node ~= '' then
  local score = redis.call('ZSCORE', nodes, node)
  if not score or tonumber(score) ~= tonumber(lease_end) then return { -1, 0 } end
  redis.call('ZADD', nodes, until_ms, node)
  return { tonumber(node), until_ms }
end
for i = 0, 1023 do
  local candidate = (first + i) % 1024
  if not redis.call('ZSCORE', nodes, candidate) then
    redis.call('ZADD', nodes, until_ms, candidate)
    return { candidate, until_ms }
  end
end
return { -1, 0 }
