-- Push back the leases of jobs that are still ours: active, with our attempt number and claim id.
-- Safe to repeat.
--
--! keys root active
--! args lease_ms
--! rest held
--! include time check
--
-- `held`: for each its id, token and claim id. Replies one character each: 1 extended, 0 gone, 3 stale.

if not whole(lease_ms, 1) then return bad_argument('lease_ms') end
local wrong = wrong_type({ active, 'zset' })
if wrong then return wrong end

-- The first write needs no memory, so that a full server costs no lease. It changes nothing.
redis.call('ZREMRANGEBYSCORE', active, 1, 0)
local verdicts = {}
for at = held, #ARGV, 3 do
  local id = ARGV[at]
  local row = redis.pcall('HMGET', root .. 'job:' .. id, 'attempts', 'claim')
  if row.err then
    verdicts[#verdicts + 1] = '3'
  elseif not row[1] then
    verdicts[#verdicts + 1] = '0'
  elseif row[1] ~= ARGV[at + 1] or (row[2] or '') ~= ARGV[at + 2] or not redis.call('ZSCORE', active, id) then
    verdicts[#verdicts + 1] = '3'
  else
    redis.call('ZADD', active, now + lease_ms, id)
    verdicts[#verdicts + 1] = '1'
  end
end
return table.concat(verdicts)
