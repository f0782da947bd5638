-- Give a leased node number back. Only its own lease is given back. Safe to repeat.
--
--! keys nodes
--! args node lease_end
--! include check
--
-- Replies 1 if it was given back, else 0.

local wrong = wrong_type({ nodes, 'zset' })
if wrong then return wrong end

local score = redis.call('ZSCORE', nodes, node)
if not score or tonumber(score) ~= tonumber(lease_end) then return 0 end
return redis.call('ZREM', nodes, node)
