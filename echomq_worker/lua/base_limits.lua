-- What the base wire tells of limits: how long the window lasts whose count is used up, and whether as many
-- jobs are active as may be. Reads only.
--
--! keys root meta active
--! args most
--! include check
--
-- `most` is how many a window may have, 0 for what `meta` says. Replies { ms, 1 if no more may be active }.

local limiter = root .. 'limiter'
local wrong = wrong_type({ meta, 'hash', active, 'zset', limiter, 'string' })
if wrong then return wrong end
if not whole(most, 0) then return bad_argument('most') end
local said = redis.call('HMGET', meta, 'max', 'concurrency')
local maximum = most ~= '0' and tonumber(most) or whole(said[1] or '', 1) or 0
local used = tonumber(redis.call('GET', limiter)) or 0
local ms = maximum > 0 and used >= maximum and math.max(0, redis.call('PTTL', limiter)) or 0
local ceiling = whole(said[2] or '', 1)
return { ms, ceiling and redis.call('ZCARD', active) >= ceiling and 1 or 0 }
