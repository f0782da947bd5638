-- Fire schedulers: each occurrence makes a job of its scheduler's template, once, and the next instant is
-- written. What somebody else has fired already finds another next instant. Safe to repeat.
--
--! keys root pending schedulers bell log
--! args log_size
--! rest firings
--! include scheduler_fire waiting
--
-- `firings`: for each its name, the next instant that was read ('' for none), the digest, the new next
-- instant, when it wakes, its tz data, why it has ended ('' if not), how many were missed, the number of
-- occurrences, and those: an id and an instant each, the oldest first. At most 500 of them, and 1,000
-- occurrences.
-- Replies a word each: a character an occurrence (1 fired, s skipped, q held, d done before), or x (changed,
-- paused or fired by somebody else), i (an id is taken), l (too many bytes in one call; nothing was done).

local plan, wrong = read_firings()
if wrong then return wrong end

local call = { names = {}, ids = {}, bytes = 0 }
local words = {}
for i, firing in ipairs(plan) do
  -- Not even read, once the call is full: payloads are large then.
  local row = not call.full and redis.pcall('HMGET', scheduler_key(firing.name), unpack(WANTED))
  local word = row and refused(firing, row, call) or not row and 'l' or nil
  if not word then
    firing.state, word = decide_all(firing, row)
    call.names[firing.name] = true
    for j = firing.first, firing.past - 1, 2 do call.ids[ARGV[j]] = true end
  end
  words[i] = word
end

for _, firing in ipairs(plan) do
  if firing.state then
    fire_one(firing)
  elseif firing.rests then
    redis.call('ZADD', schedulers, '+inf', firing.name)
  end
end
settle_down()
return words
