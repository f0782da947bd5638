-- How some schedulers stand, each at one moment. Reads only.
--
--! keys root
--! args cursor size width
--! rest words
--! include check
--
-- `cursor`: '' to look only at the schedulers that are named, else where to go on in the index, about `size`
-- at a time. `words`: `width` fields to read, then names. Replies { next cursor, { name, when it wakes or '',
-- type of its key, values of the fields } of each }.

local fields_end = whole(width, 1) and words + width - 1
if not fields_end or fields_end > #ARGV or fields_end - words > 100 then return bad_argument('width') end
if not whole(size, 1) then return bad_argument('size') end

local index = root .. 'schedulers'
local found = {}
local function look_at(name)
  local key = root .. 'scheduler:' .. name
  local kind = redis.call('TYPE', key)['ok']
  local wake = redis.pcall('ZSCORE', index, name)
  local values = kind == 'hash' and redis.call('HMGET', key, unpack(ARGV, words, fields_end)) or {}
  found[#found + 1] = { name, type(wake) == 'string' and wake or '', kind, values }
end

local following = '0'
if cursor ~= '' then
  local slice = redis.pcall('ZSCAN', index, cursor, 'COUNT', size)
  if not slice.err then
    following = slice[1]
    for i = 1, #slice[2], 2 do look_at(slice[2][i]) end
  end
end
for at = fields_end + 1, #ARGV do look_at(ARGV[at]) end
return { following, found }
