-- Write the outcomes of jobs that were run and, in the same round trip, claim the next ones.
-- Only the holder may settle: attempt number and claim id must match, with the job active, or
-- reaped and still waiting unclaimed. Repeatable: the same call gets the same answer.
--
--! keys root pending active schedule dead dead_at meta bell clock completed completed_count failed_count log
--! args caller call_number again call_id lease_ms limit promote_limit lanes log_size keep_results
--! rest outcomes
--! include receipt handout flow settle
--
-- `outcomes`: for each a kind, id, token, claim id, ms, text and failure history. Kinds: C completed
-- (ms its result is kept, text the result), R retried and r the same uncounted (ms delay, text the
-- error), B buried and N the same for want of a handler, which pauses its scheduler (text the error),
-- S snoozed and U the same for want of a handler (ms delay), A snoozed until an instant (ms), H handed
-- back and h the same once begun, P handed back to what is stopped (text its scope). What was begun
-- (S, A, h) expires no more.
-- Replies { verdicts, handout }, the verdicts one character each: 1 done, 0 gone, 2 already, 3 stale.

local bad = bad_handout() or bad_outcomes()
if bad then return bad end

local earlier = earlier_answer()
if earlier == false then return redis.error_reply(refusal) end
if earlier then
  local verdicts, ids = string.match(earlier, '^(%d*);(.*)$')
  return { verdicts, same_handout(ids) }
end
local due = read_due(tonumber(promote_limit))
local plan, wrong = read_outcomes()
if wrong then return wrong end

local verdicts, changed = settle_all(plan)
local handout = new_handout(due)
nudge_watcher()
keep_answer(verdicts .. ';' .. handed_out_ids(handout), changed or #handout[6] > 0)
return { verdicts, handout }
