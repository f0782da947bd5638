-- Forget a queue that has no jobs: its counters, its log, the list of its results, its marks. A queue
-- that has jobs, or a scheduler or registration that makes some, is left alone. What expires by itself
-- (kept results, receipts) is left to do so.
--
--! keys root pending active schedule dead meta completed completed_count failed_count dead_at log quarantine bell clock pump workers
--! args
--
-- Replies 1, or 0 if it is left alone.

local more = { root .. 'ring', root .. 'paused', root .. 'gactive', root .. 'flow:outbox', root .. 'schedulers',
  root .. 'repeat' }
if redis.call('EXISTS', pending, active, schedule, dead, unpack(more)) > 0 then return 0 end
redis.call('UNLINK', meta, completed, completed_count, failed_count, dead_at, log, quarantine, bell, clock,
  pump, workers)
return 1
