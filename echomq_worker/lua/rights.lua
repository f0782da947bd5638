-- Which of some calls this user may not make. Reads nothing, writes nothing. The keys in question come
-- as arguments, since a user who may not touch them could not run a script that declares them; `version`
-- is one that every user reads on each connect.
--
--! keys version
--! args
--! rest calls
--! include check
--
-- `calls`: for each the number of its words, and those words. Replies the places (from 1) of those that
-- are refused, 0 among them if `version` may not be read or set; nil from a server that cannot tell
-- (before Redis 7).

if not redis.acl_check_cmd then return false end

-- A command that this server does not know cannot be missed: asking about it raises.
local function is_refused(...)
  local known, may = pcall(redis.acl_check_cmd, ...)
  return known and not may
end

local refused, at, place = {}, calls, 0
if is_refused('GET', version) or is_refused('SET', version, '') then refused[1] = 0 end
while at <= #ARGV do
  local size = whole(ARGV[at], 1)
  if not size or at + size > #ARGV then return bad_argument('calls') end
  place = place + 1
  if is_refused(unpack(ARGV, at + 1, at + size)) then refused[#refused + 1] = place end
  at = at + size + 1
end
return refused
