-- The ladder: jobs with a priority wait in `prioritized`, scored priority * 2^32 + arrival number. A
-- job keeps its number, so that whatever comes back comes back to its place.
--! needs root
--! include check
local prioritized = root .. 'prioritized'
local arrival_counter = root .. 'pc'
local RUNGS = 1048576
local TIER = 4294967296
local by_mint

-- Whether the queue has its tiers in mint order: then nobody has a number.
local function ordered_by_mint()
  if by_mint == nil then by_mint = redis.pcall('HGET', root .. 'meta', 'order') == 'mint' end
  return by_mint
end

-- The counter begins anew when nobody waits and half of it is used up; at its end, mint order decides.
local function next_arrival()
  if ordered_by_mint() then return 0 end
  local number = redis.pcall('INCR', arrival_counter)
  if type(number) == 'number' and number >= TIER / 2 and redis.call('EXISTS', prioritized) == 0 then
    redis.call('SET', arrival_counter, '1')
    return 1
  end
  if type(number) ~= 'number' or number >= TIER or number < 1 then return TIER - 1 end
  return number
end

-- Returns the priority if it is one that the ladder has a rung for, else nil.
local function rung(text)
  local priority = text and string.find(text, '^-?%d+$') and whole(text, -RUNGS)
  if not priority or priority > RUNGS or priority == 0 then return nil end
  return priority
end

-- Returns the score of a job, nil if its row names no rung. It gets a number if it has none.
local function rank_of(id)
  local key = root .. 'job:' .. id
  local fields = redis.call('HMGET', key, 'priority', 'arrival')
  local priority = rung(fields[1])
  if not priority then return nil end
  local arrival = fields[2] and whole(fields[2], 0)
  if not arrival or arrival >= TIER or (arrival > 0 and ordered_by_mint()) then
    arrival = next_arrival()
    redis.call('HSET', key, 'arrival', string.format('%.0f', arrival))
  end
  return priority * TIER + arrival
end

local function put_by_priority(id)
  local rank = rank_of(id)
  return rank ~= nil and type(redis.pcall('ZADD', prioritized, rank, id)) == 'number'
end

-- Pop the first, those below 0 only or all of them, as ZPOPMIN tells it.
local function pop_prioritized(limit, below_0)
  if limit <= 0 then return {} end
  local count = below_0 and redis.pcall('ZCOUNT', prioritized, '-inf', '(0') or limit
  if type(count) ~= 'number' or count == 0 then return {} end
  local popped = redis.pcall('ZPOPMIN', prioritized, math.min(count, limit))
  return popped.err and {} or popped
end
