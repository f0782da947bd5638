-- Let a scheduler rest, with a reason. Jobs that it has made are left alone. The newest reason stands; to
-- pause it once more without one leaves the note as it is.
-- Repeatable: the same call gets the same answer.
--
--! keys root schedulers
--! args caller call_number again name reason by
--! include time receipt scheduler check
--
-- Replies 1, or 0 if there is no such scheduler.

local earlier = earlier_answer()
if earlier then return tonumber(earlier) end
if earlier == false then return redis.error_reply(refusal) end
local key = scheduler_key(name)
local wrong = wrong_type({ schedulers, 'zset', key, 'hash' })
if wrong then return wrong end

local there = redis.call('EXISTS', key) == 1
if there and reason == '' and redis.call('HEXISTS', key, 'paused') == 1 then
  redis.call('ZADD', schedulers, '+inf', name)
elseif there then
  -- The first write frees memory, so that it can be paused on a full server.
  redis.call('HDEL', key, 'paused_by')
  redis.call('HSET', key, 'paused', reason, 'paused_at', digits(now))
  if by ~= '' then redis.call('HSET', key, 'paused_by', by) end
  redis.call('ZADD', schedulers, '+inf', name)
end
keep_answer(there and 1 or 0, there)
return there and 1 or 0
