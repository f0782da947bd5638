-- Who is next: priorities below 0, then `pending` and the lanes, each for its share, then priorities
-- above 0. `lanes` is 0 for who serves no lanes.
--! needs root pending lanes
--! include priority rotation
local ready_count, hand_out
do
  local SCANNED = 1000
  local scanned = 0
  local turns = root .. 'turn'

  -- How many jobs, or lanes with jobs, are ready.
  function ready_count()
    local count = redis.call('ZCARD', pending)
    if redis.call('EXISTS', prioritized, lane_ring) == 0 then return count end
    local ladder = redis.pcall('ZCARD', prioritized)
    if type(ladder) == 'number' then count = count + ladder end
    return lanes == '1' and count + redis.call('LLEN', lane_ring) or count
  end

  -- Also right if somebody has written something else there.
  local function turn()
    local number = redis.pcall('INCR', turns)
    if type(number) ~= 'number' then redis.call('DEL', turns) end
    return type(number) ~= 'number' or number % 2 == 1
  end

  -- What is left over when a share does not come out even goes to one and the other in turn.
  local function flat_share(wanted)
    local share = math.floor(wanted / 2)
    if wanted % 2 == 1 and turn() then share = share + 1 end
    return share
  end

  -- Those that `lease` does not take, since a gate is shut, make room for others, up to a bound.
  local function lease_all(pop, wanted, lease)
    while wanted > 0 and scanned < SCANNED do
      local asked, popped = wanted, pop(wanted)
      scanned = scanned + #popped / 2
      if #popped > 0 then wanted = lease(popped, wanted) end
      if #popped / 2 < asked then break end
    end
    return wanted
  end

  local function pop_pending(limit)
    return redis.call('ZPOPMIN', pending, limit)
  end

  local function pop_urgent(limit)
    return pop_prioritized(limit, true)
  end

  local function share_out(wanted, lease)
    if lanes ~= '1' or redis.call('LLEN', lane_ring) == 0 then return lease_all(pop_pending, wanted, lease) end
    local flat = redis.call('ZCARD', pending) > 0 and flat_share(wanted) or 0
    wanted = claim_from_lanes(wanted - flat, lease) + flat
    wanted = lease_all(pop_pending, wanted, lease)
    return claim_from_lanes(wanted, lease)
  end

  -- Let `lease` take the jobs in their order, until `wanted` is 0 or none is left.
  function hand_out(wanted, lease)
    if redis.call('EXISTS', prioritized, lane_ring) == 0 then return lease_all(pop_pending, wanted, lease) end
    wanted = lease_all(pop_urgent, wanted, lease)
    wanted = share_out(wanted, lease)
    return lease_all(pop_prioritized, wanted, lease)
  end
end
