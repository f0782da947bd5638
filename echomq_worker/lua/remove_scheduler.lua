-- Remove a scheduler for good. Jobs that it has made are left alone. Repeatable: the same call gets the
-- same answer.
--
--! keys root schedulers
--! args caller call_number again name
--! include receipt scheduler check
--
-- Replies 1, or 0 if there is no such scheduler.

local earlier = earlier_answer()
if earlier then return tonumber(earlier) end
if earlier == false then return redis.error_reply(refusal) end
local wrong = wrong_type({ schedulers, 'zset' })
if wrong then return wrong end

-- Freeing writes only, so that it works on a full server.
local listed = redis.call('ZREM', schedulers, name)
local removed = math.max(listed, redis.call('DEL', scheduler_key(name)))
keep_answer(removed, removed == 1)
return removed
