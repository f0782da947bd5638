-- One round trip a beat: reap, promote, claim, renew the watcher and say that this worker is alive.
-- Repeatable like a claim; the ids that were taken back are told again too.
--
--! keys root pending active schedule dead dead_at failed_count meta bell clock pump workers worker log
--! args caller call_number again call_id lease_ms limit promote_limit lanes worker_id watch_ms log_size reap_limit crash_limit max_attempts presence_ms
--! rest presence
--! include receipt handout reap watch next_fire
--
-- `presence`: fields and values of what this worker says about itself. Replies { handout, ids
-- recovered, ids buried, watching, whether the queue has the mark of our layout, next fire }.

local bad = bad_handout() or bad_watch()
  or (not whole(reap_limit, 0) and bad_argument('reap_limit'))
  or (not whole(crash_limit, 0) and bad_argument('crash_limit'))
  or (not whole(max_attempts, 0) and bad_argument('max_attempts'))
  or (not whole(presence_ms, 0) and bad_argument('presence_ms'))
  or ((#ARGV - presence) % 2 == 0 and bad_argument('presence'))
  or wrong_type({ dead, 'zset', dead_at, 'zset', failed_count, 'hash', workers, 'zset', worker, 'hash' })
if bad then return bad end

local function told(recovered, buried)
  if #recovered + #buried == 0 then return '' end
  return ';' .. table.concat(recovered, ' ') .. ';' .. table.concat(buried, ' ')
end

local function words(text)
  local found = {}
  for word in string.gmatch(text, '%S+') do found[#found + 1] = word end
  return found
end

local earlier = earlier_answer()
if earlier == false then return redis.error_reply(refusal) end
local due, expired
if not earlier then
  due = read_due(tonumber(promote_limit))
  expired = read_expired(tonumber(reap_limit), 'crashes')
end

-- The first write frees memory, so that a full server does not stop the reaping.
local alive = tonumber(presence_ms) > 0
redis.call('ZREMRANGEBYSCORE', workers, '-inf', alive and now - 10 * presence_ms or '-inf')
local handout, recovered, buried
if earlier then
  local ids, back, dying = string.match(earlier, '^([^;]*);?([^;]*);?(.*)$')
  handout = same_handout(ids)
  recovered, buried = words(back), words(dying)
else
  recovered, buried = reap(expired, 'crashes', tonumber(crash_limit), tonumber(max_attempts))
  handout = new_handout(due)
  local reaped = told(recovered, buried)
  keep_answer(handed_out_ids(handout) .. reaped, #handout[6] > 0 or reaped ~= '')
end
local watches = watching(due and due.overdue)
if alive then
  redis.call('ZADD', workers, now, worker_id)
  redis.call('HSET', worker, 'beat', now, unpack(ARGV, presence))
  redis.call('PEXPIRE', worker, presence_ms)
end
return { handout, recovered, buried, watches, redis.call('HEXISTS', meta, 'ext'), next_fire() }
