-- Make a job of a scheduler's template. The predecessors that an overlap policy asks about are those
-- of the ids in `live` that still have a row and are not dead. Where nobody has asked so far, there is no
-- `live`, and they are among the last occurrences.
--! needs root pending bell
--! include time scheduler scheduler_runs waiting log
local TEMPLATE = { 'payload', 'ttl', 'name', 'max', 'keep', 'timeout', 'backoff', 'priority', 'lane', 'key', 'group' }
local MOST_LIVE = 100
local ID_AND_SPACE = 15

local function make_job(id, scheduler, instant, template)
  local fields = {
    'state', 'pending', 'attempts', '0', 'payload', template[1] or '', 'scheduler', scheduler, 'instant', instant,
    'more', '1',
  }
  local ttl = whole(template[2] or '', 1)
  if ttl then
    for _, word in ipairs({ 'expires', digits(now + ttl), 'expires_in', digits(ttl) }) do
      fields[#fields + 1] = word
    end
  end
  for i = 3, #TEMPLATE do
    if template[i] then
      fields[#fields + 1] = TEMPLATE[i]
      fields[#fields + 1] = template[i]
    end
  end
  redis.call('HSET', root .. 'job:' .. id, unpack(fields))
  put_waiting(id, template[#TEMPLATE], true)
  note('enqueued', id, 0)
end

local function noted_jobs(key, runs)
  local fields, ids = {}, {}
  for i = math.max(1, #runs.instants - MOST_RUNS + 1), #runs.instants do
    fields[#fields + 1] = 'run:' .. runs.instants[i]
  end
  local notes = #fields > 0 and redis.call('HMGET', key, unpack(fields)) or {}
  for i = 1, #fields do ids[i] = string.match(notes[i] or '', '^%S*') end
  return table.concat(ids, ' ')
end

-- The newest of them, the oldest first.
local function predecessors(key, live, runs)
  local ids = {}
  local newest = string.sub(live or noted_jobs(key, runs), -MOST_LIVE * ID_AND_SPACE)
  for id in string.gmatch(newest, '%S+') do
    local state = redis.pcall('HGET', root .. 'job:' .. id, 'state')
    if type(state) == 'string' and state ~= 'dead' then ids[#ids + 1] = id end
  end
  return ids
end
