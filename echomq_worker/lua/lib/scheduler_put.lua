-- Declaring: what a declaration becomes, by what is stored, and writing it.
--! needs root schedulers clock name digest rule_digest revision force source instant wake tz fields
--! include time scheduler scheduler_wake check
local key = scheduler_key(name)
local MOST_OLD = 10

local function bad_declaration()
  local size = #ARGV - fields + 1
  return (not scheduler_name(name) and bad_argument('name'))
    or (not whole(revision, 0) and bad_argument('revision'))
    or (not (ms_text(instant) and ms_text(wake) and (instant == '') == (wake == '')) and bad_argument('instant'))
    or ((size < 2 or size % 2 ~= 0 or size > 100) and bad_argument('fields'))
    or nil
end

local function read_stored()
  local names = {}
  for at = fields, #ARGV, 2 do names[#names + 1] = ARGV[at] end
  local books = redis.call('HMGET', key, 'digest', 'rule_digest', 'revision', 'old', 'last', 'paused', 'next', 'held')
  local values = redis.call('HMGET', key, unpack(names))
  local same = books[1] == digest and books[2] == rule_digest and ms_text(books[7])
  for i = 1, #names do same = same and (values[i] or '') == ARGV[fields + 2 * i - 1] end
  return {
    digest = books[1], rule = books[2], revision = tonumber(books[3]) or 0, old = books[4] or '',
    last = tonumber(books[5]), paused = books[6], instant = books[7], held = books[8], same = same,
  }
end

local function is_old(stored)
  for old in string.gmatch(stored.old, '%S+') do
    if old == digest then return true end
  end
  return false
end

local function judge(stored)
  local own = tonumber(revision)
  if stored.same then return 'unchanged' end
  if stored.digest and stored.revision > own then return 'older' end
  if stored.digest and stored.revision == own and force ~= '1' and is_old(stored) then return 'superseded' end
  -- One whose digest is ours has been damaged, so its next instant is not to be trusted either.
  local kept = stored.digest ~= digest and stored.rule == rule_digest and ms_text(stored.instant)
  if stored.digest and kept then return 'changed' end
  if stored.last and instant ~= '' and tonumber(instant) <= stored.last then return 'again' end
  return stored.digest and 'retimed' or 'created'
end

-- The digests that were replaced under this revision, the newest last.
local function replaced(stored)
  local old = {}
  if stored.revision == tonumber(revision) and stored.digest then
    for word in string.gmatch(stored.old, '%S+') do
      if word ~= digest and word ~= stored.digest then old[#old + 1] = word end
    end
    if stored.digest ~= digest then old[#old + 1] = stored.digest end
  end
  return table.concat(old, ' ', math.max(1, #old - MOST_OLD + 1))
end

-- What is kept back is looked at soon, whatever the rule says.
local function wake_of(stored, usual)
  if stored.paused then return '+inf' end
  if stored.held then return digits(now) end
  return usual == '' and '+inf' or usual
end

local function write_declaration(stored, verdict)
  local set = {
    'digest', digest, 'rule_digest', rule_digest, 'revision', revision, 'source', source, 'changed', digits(now),
    'old', replaced(stored),
  }
  local gone = {}
  local function put(field, value)
    if value ~= '' then
      set[#set + 1] = field
      set[#set + 1] = value
    else
      gone[#gone + 1] = field
    end
  end
  for at = fields, #ARGV, 2 do put(ARGV[at], ARGV[at + 1]) end
  if verdict == 'created' then put('created', digits(now)) end
  if verdict ~= 'changed' then
    put('ended', instant == '' and 'end' or '')
    for _, word in ipairs({ 'next', instant, 'tz', tz, 'since', digits(now) }) do set[#set + 1] = word end
  end
  -- The first write needs memory, so that a full server refuses all of it.
  redis.call('HSET', key, unpack(set))
  if #gone > 0 then redis.call('HDEL', key, unpack(gone)) end
  if verdict ~= 'changed' then wake_at(name, wake_of(stored, wake)) end
end

-- What stands there word for word may have a higher revision now, or be missing from the index.
-- Returns whether anything was changed.
local function mend(stored)
  local higher = tonumber(revision) > stored.revision
  if higher then redis.call('HSET', key, 'revision', revision, 'old', '') end
  local listed = redis.call('ZSCORE', schedulers, name)
  if not listed then wake_at(name, wake_of(stored, stored.instant)) end
  return higher or not listed
end
