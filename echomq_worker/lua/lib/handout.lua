-- What claim, settle and beat have in common: promote a bounded slice, claim, and answer a repeat.
--! needs root pending meta call_id lease_ms limit promote_limit lanes
--! include promote claim schedule gates side
local function new_handout(due, source)
  promote(due)
  open_gates()
  local wanted = tonumber(limit)
  local said = redis.call('HMGET', meta, 'paused', 'concurrency', 'max')
  local paused = said[1] and 1 or 0
  local room = said[1] and 0 or queue_room(wanted, said[2], said[3])
  local jobs = claim_ready(room, tonumber(lease_ms), call_id, source)
  pass_queue(jobs, room, wanted)
  write_gates()
  local left = ready_count()
  pass_on(wanted, left, paused == 1 or room < wanted)
  return { now, next_due(), left, paused, set_aside_count, jobs, struck_arguments() }
end

-- The jobs of an earlier call that are still held under its claim id.
local function same_handout(ids)
  local jobs = {}
  for id in string.gmatch(ids, '%S+') do
    local key = root .. 'job:' .. id
    local row = redis.pcall('HMGET', key, unpack(CLAIM_FIELDS))
    if row[1] and redis.call('HGET', key, 'claim') == call_id and redis.call('ZSCORE', active, id) then
      jobs[#jobs + 1] = as_handed_out(id, row)
    end
  end
  return { now, next_due(), ready_count(), redis.call('HEXISTS', meta, 'paused'), 0, jobs,
    struck_arguments() }
end

local function handed_out_ids(handout)
  local ids = {}
  for i, job in ipairs(handout[6]) do ids[i] = job[1] end
  return table.concat(ids, ' ')
end

local function bad_handout()
  return (not whole(lease_ms, 1) and bad_argument('lease_ms'))
    or (not whole(limit, 0) and bad_argument('limit'))
    or (not whole(promote_limit, 0) and bad_argument('promote_limit'))
    or wrong_type({ pending, 'zset', active, 'zset', schedule, 'zset', meta, 'hash', bell, 'list', clock, 'list' })
    or wrong_side_key()
    or wrong_log()
    or nil
end
