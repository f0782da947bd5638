-- Set a key of uniqueness free, whoever holds it; that job goes on. What waits for it to end waits no longer.
-- Safe to repeat.
--
--! keys root pending bell
--! args dedup
--! include unique waiting side check
--
-- Replies 1, or 0 if the key was free.

local key = root .. 'de:' .. dedup
local wrong = wrong_type({ key, 'string', pending, 'zset', bell, 'list', root .. 'parked:unique:' .. dedup, 'zset' })
  or wrong_side_key()
if wrong then return wrong end
local id = redis.call('GET', key)
if not id then return 0 end
free_key(dedup)
settle_down()
return 1
