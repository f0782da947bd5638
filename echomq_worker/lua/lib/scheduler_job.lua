-- Make a job of a scheduler's template. The predecessors that an overlap policy asks about are those
-- of the ids in `live` that still have a row and are not dead.
--! needs root pending bell
--! include time scheduler waiting log
local TEMPLATE = { 'payload', 'ttl', 'name', 'max', 'keep', 'timeout', 'backoff' }
local MOST_LIVE = 10

local function make_job(id, scheduler, instant, template)
  local fields = {
    'state', 'pending', 'attempts', '0', 'payload', template[1] or '', 'scheduler', scheduler, 'instant', instant,
    'more', '1',
  }
  local ttl = whole(template[2] or '', 1)
  if ttl then
    fields[#fields + 1] = 'expires'
    fields[#fields + 1] = digits(now + ttl)
  end
  for i = 3, #TEMPLATE do
    if template[i] then
      fields[#fields + 1] = TEMPLATE[i]
      fields[#fields + 1] = template[i]
    end
  end
  redis.call('HSET', root .. 'job:' .. id, unpack(fields))
  put_waiting(id)
  note('enqueued', id, 0)
end

local function still_live(text)
  local ids = {}
  for id in string.gmatch(text or '', '%S+') do
    local state = redis.pcall('HGET', root .. 'job:' .. id, 'state')
    if type(state) == 'string' and state ~= 'dead' then ids[#ids + 1] = id end
    if #ids == MOST_LIVE then break end
  end
  return ids
end
