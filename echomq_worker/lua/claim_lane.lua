-- Take jobs of one lane under a lease. Which lane, says `mode`: `lane` that of `lane`, else the next one of the
-- rotation that has any, of which `single` takes one job, `weighted` as many as its weight says, `batch` all, and
-- none takes more than `limit`. A paused queue hands out nothing. Repeatable: the same call gets the same jobs.
--
--! keys root pending active schedule meta bell clock log
--! args caller call_number again call_id lease_ms limit promote_limit lanes mode lane log_size
--! include receipt handout
--
-- Replies { now, next due, left, paused, set aside, jobs }.

local MODES = { lane = true, single = true, weighted = true, batch = true }
local bad = bad_handout() or (not MODES[mode] and bad_argument('mode'))
if bad then return bad end

local function worth(group, wanted)
  if mode == 'single' then return 1 end
  return mode == 'weighted' and math.min(wanted, lane_weight(group)) or wanted
end

-- Entries of the ring that stand for nothing are passed over, up to a bound.
local function claim_next_lane(wanted, lease)
  for _ = 1, TURNS do
    local group = redis.call('LPOP', lane_ring)
    if not group then return wanted end
    local popped, again = pop_lane(group, worth(group, wanted))
    if again then put_on_ring(group) end
    local left = lease_turn(group, popped, again, wanted, lease)
    if left < wanted then return left end
  end
  return wanted
end

local function claim_named_lane(wanted, lease)
  local popped, again = pop_lane(lane, wanted)
  if not again then redis.call('LREM', lane_ring, 0, lane) end
  return lease_turn(lane, popped, again, wanted, lease)
end

local earlier = earlier_answer()
if earlier == false then return redis.error_reply(refusal) end
if earlier then return same_handout(earlier) end
local handout = new_handout(read_due(tonumber(promote_limit)), mode == 'lane' and claim_named_lane or claim_next_lane)
keep_answer(handed_out_ids(handout), #handout[6] > 0)
return handout
