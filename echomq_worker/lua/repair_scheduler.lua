-- Take a scheduler without a definition out of the index; let one wake when its definition says so. Looks
-- first, so that it may be repeated.
--
--! keys root schedulers clock
--! args name
--! include time scheduler scheduler_wake quarantine check
--
-- Replies 1 if anything was changed, else 0.

local key = scheduler_key(name)
local wrong = wrong_type({
  schedulers, 'zset', clock, 'list', key, 'hash', root .. 'quarantine', 'stream',
})
if wrong then return wrong end

local wake = redis.call('ZSCORE', schedulers, name)
if redis.call('EXISTS', key) == 0 then
  if not wake then return 0 end
  redis.call('ZREM', schedulers, name)
  write_fault('scheduler:' .. name, 'there is no definition', {})
  return 1
end

local fields = redis.call('HMGET', key, 'next', 'paused', 'held', 'jitter')
local instant, paused, held = fields[1], fields[2], fields[3]
if not ms_text(instant) then return 0 end
local function wanted()
  if paused or (instant == '' and not held) then return '+inf' end
  local score = tonumber(wake or '') or math.huge
  if score < math.huge and held then return nil end
  if instant == '' then return digits(now) end
  local planned = tonumber(instant)
  if score >= planned and score <= planned + (whole(fields[4] or '', 0) or 0) then return nil end
  return instant
end

local target = wanted()
if not target or (wake and tonumber(wake) == tonumber(target)) then return 0 end
wake_at(name, target)
return 1
