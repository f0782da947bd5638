-- How often something may start: a token bucket, or a sliding window of starts. What is read is kept for
-- this call, and what is taken is written by `write_rates`. A clock that goes back costs no more than
-- what had not come back yet; each key expires when it says no more than its absence does.
--! needs root
--! include time
local rate_of, take_token, next_token_at, write_rates
do
  local precisely = clock_parts[1] * 1000 + clock_parts[2] / 1000
  local rates = {}

  local function read_bucket(rate, key)
    local stored = redis.pcall('GET', key)
    local tokens, at = string.match(type(stored) == 'string' and stored or '', '^(%S+) (%S+)$')
    tokens, at = tonumber(tokens), tonumber(at)
    if not tokens or not at then return rate.burst end
    -- From before the clock was set back: it counts from now.
    if at > precisely then redis.call('SET', key, string.format('%.9f %.3f', tokens, precisely), 'KEEPTTL') end
    local gained = math.max(0, precisely - at) * rate.count / rate.window
    return math.max(0, math.min(rate.burst, tokens + gained))
  end

  local function read_window(rate, key)
    redis.pcall('ZREMRANGEBYSCORE', key, '-inf', now - rate.window)
    -- From before the clock was set back.
    redis.pcall('ZREMRANGEBYSCORE', key, string.format('(%.0f', now), '+inf')
    local used = redis.pcall('ZCARD', key)
    return type(used) == 'number' and math.max(0, rate.count - used) or rate.count
  end

  -- `rule` is `<count> <window ms> <burst> bucket`, or the same with `window`. An unusable one limits nothing.
  function rate_of(gate, rule)
    if rates[gate] then return rates[gate] end
    local count, window, burst, kind = string.match(rule, '^(%d+) (%d+) (%d+) (%l+)$')
    local rate = { gate = gate, taken = {} }
    rate.count, rate.window, rate.burst = tonumber(count), tonumber(window), tonumber(burst)
    if not count or rate.count < 1 or rate.window < 1 then
      rate.free = math.huge
    else
      rate.bucket = kind == 'bucket'
      rate.burst = math.max(1, rate.burst)
      rate.free = (rate.bucket and read_bucket or read_window)(rate, root .. gate)
    end
    rates[gate] = rate
    return rate
  end

  function take_token(rate, start)
    rate.free = rate.free - 1
    rate.taken[#rate.taken + 1] = now
    rate.taken[#rate.taken + 1] = start
  end

  -- When one may start again, with `spent` of those free now spoken for.
  function next_token_at(rate, spent)
    if rate.free - spent >= 1 then return now end
    if rate.bucket then return math.ceil(precisely + (1 - (rate.free - spent)) * rate.window / rate.count) end
    local oldest = redis.pcall('ZRANGE', root .. rate.gate, 0, 0, 'WITHSCORES')[2]
    return (tonumber(oldest) or now) + rate.window
  end

  function write_rates()
    for gate, rate in pairs(rates) do
      local key = root .. gate
      if #rate.taken == 0 then
        rates[gate] = nil
      elseif rate.bucket then
        local refill = math.ceil((rate.burst - rate.free) * rate.window / rate.count)
        redis.call('SET', key, string.format('%.9f %.3f', rate.free, precisely), 'PX', refill + 1000)
      elseif rate.free ~= math.huge then
        if type(redis.pcall('ZADD', key, unpack(rate.taken))) ~= 'number' then
          redis.call('DEL', key)  -- from before, when its rule was a bucket
          redis.call('ZADD', key, unpack(rate.taken))
        end
        redis.call('PEXPIRE', key, rate.window + 1000)
      end
      rate.taken = {}
    end
  end
end
