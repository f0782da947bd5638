-- Keys beside the usual ones, which a flat queue seldom has: priorities, lanes, the outbox of flows,
-- quarantine.
--! needs root
--! include check
local function wrong_side_key()
  return wrong_rare_type({
    root .. 'ring', 'list', root .. 'wake', 'list', root .. 'gactive', 'hash', root .. 'glimit', 'hash',
    root .. 'paused', 'set', root .. 'flow:outbox', 'list', root .. 'quarantine', 'stream',
    root .. 'prioritized', 'zset', root .. 'pc', 'string', root .. 'turn', 'string', root .. 'gweight', 'hash',
    root .. 'gcredit', 'hash', root .. 'lane:names', 'hash', root .. 'limits', 'hash', root .. 'strikes', 'hash',
    root .. 'gates', 'zset', root .. 'busy', 'hash', root .. 'grate', 'hash',
    root .. 'gmax', 'hash', root .. 'lane:pauses', 'hash', root .. 'lane:first', 'set',
  })
end
