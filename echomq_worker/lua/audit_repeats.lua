-- How some repeating registrations stand, at one moment. Reads only.
--
--! keys repeat_set
--! args
--! rest names
--
-- Replies { name, next time, type of its record, interval, 1 if it has a template } of each.

local found = {}
for at = names, #ARGV do
  local record = repeat_set .. ':' .. ARGV[at]
  local kind = redis.call('TYPE', record)['ok']
  local due = redis.pcall('ZSCORE', repeat_set, ARGV[at])
  found[#found + 1] = {
    ARGV[at], type(due) == 'string' and due or '', kind,
    kind == 'hash' and redis.call('HGET', record, 'every_ms') or '',
    kind == 'hash' and redis.call('HEXISTS', record, 'template') or 0,
  }
end
return found
