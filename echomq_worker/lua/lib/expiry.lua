-- How long a job may wait to be started. A producer says it as the last field of a job, `expires_in`,
-- counted from when the job is due; the row carries the instant, `expires`.
--! include check

-- `first` is where the fields of a job begin, `count` how many names and values there are.
local function bad_expiry(first, count)
  local name = first + count - 2
  if count > 0 and ARGV[name] == 'expires_in' and not whole(ARGV[name + 1], 0) then
    return bad_argument('expires_in')
  end
  return nil
end

-- Put the instant in the place of the duration; returns the duration if there was one.
local function fix_expiry(first, count, due)
  local name = first + count - 2
  if count == 0 or ARGV[name] ~= 'expires_in' then return nil end
  local wait = ARGV[name + 1]
  local given = ARGV
  given[name], given[name + 1] = 'expires', string.format('%.0f', due + wait)
  return wait
end
