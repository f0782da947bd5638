-- Remove keys of a paused queue that were found by a scan; `meta` stays, which keeps it paused. Safe to repeat.
--
--! keys root meta
--! args
--! rest suffixes
--
-- Replies how many are gone, or -1 if the queue is not paused.

if redis.call('HEXISTS', meta, 'paused') == 0 then return -1 end
local gone = {}
for at = suffixes, #ARGV do
  if root .. ARGV[at] ~= meta then gone[#gone + 1] = root .. ARGV[at] end
end
return #gone > 0 and redis.call('UNLINK', unpack(gone)) or 0
