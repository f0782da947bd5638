-- Stop jobs before they start: those of a scope, until an instant or until they are let go on. Those
-- that run go on. Striking again replaces the note and the end. Safe to repeat.
--
--! keys root bell
--! args scope until_ms note
--! include time check
--
-- `until_ms` is `-` for no end, or how long from now with a `+` before it. Replies when it ends, or ''.

local strikes = root .. 'strikes'
local wrong = wrong_type({ strikes, 'hash', root .. 'gates', 'zset', bell, 'list' })
if wrong then return wrong end
local until_text = until_ms
if until_ms ~= '-' then
  local ms = whole(string.gsub(until_ms, '^%+', ''), 0)
  if not ms then return bad_argument('until_ms') end
  if string.sub(until_ms, 1, 1) == '+' then ms = now + ms end
  until_text = string.format('%.0f', ms)
end
if redis.call('HEXISTS', strikes, scope) == 0 and redis.call('HLEN', strikes) >= 1000 then
  return redis.error_reply('EMQARG strikes: a queue has at most 1000 of them')
end
redis.call('HSET', strikes, scope, until_text .. ' ' .. now .. ' ' .. note)
if redis.call('ZSCORE', root .. 'gates', 'strike:' .. scope) and until_text ~= '-' then
  redis.call('ZADD', root .. 'gates', until_text, 'strike:' .. scope)
end
return until_text == '-' and '' or until_text
