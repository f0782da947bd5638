-- Stop jobs before they start: those of a scope, until an instant or until they are let go on. Those
-- that run go on. Striking again replaces the note and the end. Safe to repeat.
--
--! keys root clock
--! args scope until_ms at_least note
--! include time check
--
-- `until_ms` is `-` for no end, or how long from now with a `+` before it. `at_least`: 1 to leave alone what
-- holds for longer. Replies when it ends, or ''.

local MOST = 1000
local strikes = root .. 'strikes'
local wrong = wrong_type({ strikes, 'hash', root .. 'gates', 'zset', clock, 'list' })
if wrong then return wrong end

local function end_of(text)
  local ends = text and string.match(text, '^%S+')
  return ends == '-' and math.huge or tonumber(ends) or 0
end

-- Those that are over make room for others.
local function forget_the_past()
  local all = redis.call('HGETALL', strikes)
  for i = 1, #all, 2 do
    if end_of(all[i + 1]) <= now then redis.call('HDEL', strikes, all[i]) end
  end
end

local until_text = until_ms
if until_ms ~= '-' then
  local ms = whole(string.gsub(until_ms, '^%+', ''), 0)
  if not ms then return bad_argument('until_ms') end
  if string.sub(until_ms, 1, 1) == '+' then ms = now + ms end
  until_text = string.format('%.0f', ms)
end
local before = redis.call('HGET', strikes, scope)
if at_least == '1' and end_of(before) > now and end_of(before) >= end_of(until_text) then
  local ends = string.match(before, '^%S+')
  return ends == '-' and '' or ends
end
if not before and redis.call('HLEN', strikes) >= MOST then
  forget_the_past()
  if redis.call('HLEN', strikes) >= MOST then
    return redis.error_reply('EMQARG strikes: a queue has at most ' .. MOST .. ' of them')
  end
end
redis.call('HSET', strikes, scope, until_text .. ' ' .. now .. ' ' .. note)
if redis.call('ZSCORE', root .. 'gates', 'strike:' .. scope) and until_text ~= '-' then
  redis.call('ZADD', root .. 'gates', until_text, 'strike:' .. scope)
  if redis.call('LLEN', clock) == 0 then redis.call('LPUSH', clock, '1') end
end
return until_text == '-' and '' or until_text
