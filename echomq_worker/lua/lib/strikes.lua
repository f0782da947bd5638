-- Strikes: jobs that somebody has stopped, by scope. Each is `<ms until, or -> <ms since> <note>`.
--! needs root
--! include time
local read_strikes, strike_end, end_strike, struck_arguments, forget_strikes
do
  local strikes_key = root .. 'strikes'
  local strikes = {}

  function read_strikes(flat)
    for i = 1, #flat, 2 do strikes[flat[i]] = flat[i + 1] end
  end

  -- Returns when a strike ends, nil if there is none.
  function strike_end(scope)
    local until_ms = strikes[scope] and string.match(strikes[scope], '^%S+')
    if not until_ms then return nil end
    until_ms = until_ms == '-' and math.huge or tonumber(until_ms) or math.huge
    return until_ms > now and until_ms or nil
  end

  function end_strike(scope)
    if not strikes[scope] or strike_end(scope) then return end
    redis.call('HDEL', strikes_key, scope)
    strikes[scope] = nil
  end

  -- What is stopped by arguments, which only workers can read.
  function struck_arguments()
    local scopes = {}
    for scope in pairs(strikes) do
      if string.sub(scope, 1, 4) == 'arg:' and strike_end(scope) then scopes[#scopes + 1] = scope end
    end
    return scopes
  end

  -- Those that are over, and at whose gates nobody waited.
  function forget_strikes()
    for scope in pairs(strikes) do end_strike(scope) end
  end
end
