-- Keys beside the usual ones, which a flat queue seldom has: lanes, the outbox of flows, quarantine.
--! needs root
--! include check
local function wrong_side_key()
  return wrong_rare_type({
    root .. 'ring', 'list', root .. 'wake', 'list', root .. 'gactive', 'hash', root .. 'glimit', 'hash',
    root .. 'paused', 'set', root .. 'flow:outbox', 'list', root .. 'quarantine', 'stream',
  })
end
