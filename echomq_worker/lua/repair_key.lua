-- Let one key last as long as it should. Looks first, so that it may be repeated.
--
--! keys root key
--! args task owner ms
--! include check quarantine
--
-- `task`: `expire` a key that lasts for ever in `ms`; `leave` does so to a part of the job `owner` if that
-- has no row, and writes it down; `keep` takes an expiry away; `release` deletes a key that holds the id
-- of a job without a row. Replies 1 if anything was changed, else 0.

if not whole(ms, 0) then return bad_argument('ms') end
local wrong = wrong_type({ root .. 'quarantine', 'stream' })
if wrong then return wrong end
local left = redis.call('PTTL', key)
if task == 'keep' then return left >= 0 and redis.call('PERSIST', key) or 0 end
if left ~= -1 then return 0 end
if task == 'release' then
  local holder = redis.pcall('GET', key)
  if type(holder) ~= 'string' or redis.call('EXISTS', root .. 'job:' .. holder) == 1 then return 0 end
  return redis.call('DEL', key)
end
if task == 'leave' then
  if redis.call('EXISTS', root .. 'job:' .. owner) == 1 then return 0 end
  redis.call('PEXPIRE', key, ms)
  write_fault(owner, 'a part of a job that has no row', {})
  return 1
end
return redis.call('PEXPIRE', key, ms)
