-- Declare a scheduler, or change one. The next instant follows only if the rule is another. A paused one
-- stays so. Repeatable: the same call gets the same answer.
--
--! keys root schedulers clock
--! args caller call_number again name digest rule_digest revision force source instant wake tz
--! rest fields
--! include time receipt scheduler scheduler_wake scheduler_put check
--
-- `instant` and `wake`: when it fires next if the rule is new ('' if never). `force`: replace a declaration
-- of the same revision that has replaced this one. `fields`: name and value of every field that a
-- declaration may have; '' takes it away.
-- Replies created, unchanged, changed, retimed, older (a higher revision is stored), superseded (another of
-- this revision has replaced it), again (the instant is not later than the last that was fired).

local earlier = earlier_answer()
if earlier then return earlier end
if earlier == false then return redis.error_reply(refusal) end
local wrong = bad_declaration() or wrong_type({ schedulers, 'zset', clock, 'list', scheduler_key(name), 'hash' })
if wrong then return wrong end

local stored = read_stored()
local verdict = judge(stored)
local changed = true
if verdict == 'created' or verdict == 'retimed' or verdict == 'changed' then
  write_declaration(stored, verdict)
elseif verdict == 'unchanged' then
  changed = mend(stored)
else
  changed = false
end
keep_answer(verdict, changed)
return verdict
