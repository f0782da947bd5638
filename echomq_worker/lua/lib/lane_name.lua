-- Write down the name that a lane was made from; '' stands for none.
--! needs root
local function keep_lane_name(group, name)
  if name ~= '' then redis.call('HSET', root .. 'lane:names', group, name) end
end
