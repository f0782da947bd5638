-- What an operator changes may let a lane be served: then it comes into the rotation, and workers are told.
--! needs root bell
--! include lanes bell
local function serve_lane(group, was_out)
  local backlog = redis.pcall('ZCARD', lane_key(group))
  if type(backlog) ~= 'number' or backlog == 0 then return end
  if ring_lane(group, was_out) then ring_bell(backlog) end
end
