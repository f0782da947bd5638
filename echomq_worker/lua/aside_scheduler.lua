-- Set a scheduler aside that cannot be read: what stands in its place is kept for a week under a key of its
-- own. One that has changed since it was read is left alone, so that it may be repeated.
--
--! keys root schedulers
--! args name reason kind digest changed
--! include scheduler quarantine check
--
-- `kind`, `digest`, `changed`: the type of its key and these fields ('' for none) as they were read. Replies
-- 1, else 0.

local key = scheduler_key(name)
local wrong = wrong_type({ schedulers, 'zset', root .. 'quarantine', 'stream' })
if wrong then return wrong end

if redis.call('TYPE', key)['ok'] ~= kind then return 0 end
local stored = kind == 'hash' and redis.call('HMGET', key, 'digest', 'changed', 'payload', 'name') or {}
if (stored[1] or '') ~= digest or (stored[2] or '') ~= changed then return 0 end
if kind == 'none' and not redis.call('ZSCORE', schedulers, name) then return 0 end

-- The first write frees memory.
redis.call('ZREM', schedulers, name)
if kind ~= 'none' then
  redis.call('RENAME', key, root .. 'aside:scheduler:' .. name)
  redis.call('PEXPIRE', root .. 'aside:scheduler:' .. name, KEPT_MS)
end
write_fault('scheduler:' .. name, reason, { nil, nil, stored[3], stored[4] })
return 1
