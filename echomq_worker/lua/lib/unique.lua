-- Keys of uniqueness: `de:<key>` names the job that holds one, and its row says which key that is (`uniq`) and
-- what sets it free (`release`: start, finish or ttl). Who waits for the holder to end is parked.
--! needs root
--! include check parking
local unique_start, unique_end, unique_again, key_holder, hold_key, free_key, park_for_key
do
  local function key_of(dedup)
    return root .. 'de:' .. dedup
  end

  -- A job that waits until the holder of its key has ended. It takes the key over then.
  function park_for_key(id, dedup)
    local gate = 'unique:' .. dedup
    redis.call('ZADD', root .. 'parked:' .. gate, 0, id)
    redis.call('HSET', root .. 'job:' .. id, 'held', gate, 'more', '1')
    redis.call('ZADD', gates_key, '+inf', gate)
  end

  function free_key(dedup)
    redis.call('DEL', key_of(dedup))
    pass_on_key(dedup)
  end

  local function set_free(id, dedup, stays)
    if redis.pcall('GET', key_of(dedup)) ~= id then return end
    if stays then pass_on_key(dedup) else free_key(dedup) end
  end

  -- To be called when a job is claimed, or ends, while its row is there. `more`: whether the row says that it
  -- has fields that few have.
  function unique_start(id, more)
    if not more then return end
    local fields = redis.call('HMGET', root .. 'job:' .. id, 'uniq', 'release')
    if fields[1] and fields[2] == 'start' then set_free(id, fields[1]) end
  end

  -- `removed`: somebody has taken it away, so that it never ran its time.
  function unique_end(id, more, removed)
    if not more then return end
    local fields = redis.call('HMGET', root .. 'job:' .. id, 'uniq', 'release')
    if fields[1] then set_free(id, fields[1], fields[2] == 'ttl' and not removed) end
  end

  -- Who holds a key: its id, and its state; nil if nobody does. What has gone, or is dead, holds a key no
  -- longer, unless it is held for a time.
  function key_holder(dedup)
    local id = redis.call('GET', key_of(dedup))
    if not id then return nil end
    local state = redis.pcall('HGET', root .. 'job:' .. id, 'state')
    if type(state) == 'string' and state ~= 'dead' then return id, state end
    if redis.call('PTTL', key_of(dedup)) > 0 then return id, 'gone' end
    if redis.call('EXISTS', root .. 'parked:unique:' .. dedup) == 0 then return nil end
    pass_on_key(dedup)
    local heir = redis.call('GET', key_of(dedup))
    if heir ~= id then return heir, 'pending' end
    return nil
  end

  -- A dead job that is brought back holds its key again, if nobody else does.
  function unique_again(id, more)
    if not more then return end
    local fields = redis.call('HMGET', root .. 'job:' .. id, 'uniq', 'release')
    if not fields[1] or fields[2] ~= 'finish' or key_holder(fields[1]) then return end
    redis.call('SET', key_of(fields[1]), id)
  end

  function hold_key(dedup, id, ttl)
    if ttl > 0 then return redis.call('SET', key_of(dedup), id, 'PX', ttl) end
    redis.call('SET', key_of(dedup), id)
  end
end
