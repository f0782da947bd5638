-- Take up to `limit` jobs under a lease, after promoting at most `promote_limit` due ones, of lanes too if
-- `lanes` is 1. A paused queue hands out nothing. Repeatable: the same call gets the same jobs.
--
--! keys root pending active schedule meta bell clock pump log
--! args caller call_number again call_id lease_ms limit promote_limit lanes worker_id watch_ms log_size
--! include receipt handout watch next_fire
--
-- Replies { now, next due, left, paused, set aside, jobs, stopped by arguments, watching, next fire }.

local bad = bad_handout() or bad_watch()
if bad then return bad end

local handout, overdue
local earlier = earlier_answer()
if earlier == false then return redis.error_reply(refusal) end
if earlier then
  handout = same_handout(earlier)
else
  local due = read_due(tonumber(promote_limit))
  overdue = due.overdue
  handout = new_handout(due)
  keep_answer(handed_out_ids(handout), #handout[6] > 0)
end
handout[8] = watching(overdue)
handout[9] = next_fire()
return handout
