-- Let a paused scheduler fire again, from the instant given on. What fell into the pause is not made up for.
-- Repeatable: the same call gets the same answer.
--
--! keys root schedulers clock
--! args caller call_number again name digest instant wake tz
--! include time receipt scheduler scheduler_wake check
--
-- `digest`: of the declaration that `instant` and `wake` ('' for never) were computed from. Replies 1, 0 if
-- there is no such scheduler, 2 if it is not paused, 3 if it has changed since it was read.

local earlier = earlier_answer()
if earlier then return tonumber(earlier) end
if earlier == false then return redis.error_reply(refusal) end
local key = scheduler_key(name)
local wrong = wrong_type({ schedulers, 'zset', clock, 'list', key, 'hash' })
  or (not (ms_text(instant) and ms_text(wake) and (instant == '') == (wake == '')) and bad_argument('instant'))
if wrong then return wrong end

local stored = redis.call('HMGET', key, 'digest', 'paused', 'last', 'held', 'ended')
local last = tonumber(stored[3])

local function judge()
  if not stored[1] then return 0 end
  if not stored[2] then return 2 end
  if stored[1] ~= digest then return 3 end
  if last and instant ~= '' and tonumber(instant) <= last then return 3 end
  return 1
end

local verdict = judge()
if verdict == 1 then
  redis.call('HDEL', key, 'paused', 'paused_at', 'paused_by')
  redis.call('HSET', key, 'next', instant, 'tz', tz, 'since', digits(now))
  if instant == '' and not stored[5] then redis.call('HSET', key, 'ended', 'end') end
  if stored[4] then wake = digits(now) end
  wake_at(name, wake == '' and '+inf' or wake)
end
keep_answer(verdict, verdict == 1)
return verdict
