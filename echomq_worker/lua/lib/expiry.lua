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

-- Returns the names and values for the row, with the instant as well. The duration stays on the row, so
-- that who lets the job be due at another time can tell the instant anew.
local function row_fields(first, count, due)
  local last = first + count - 1
  if count == 0 or ARGV[last - 1] ~= 'expires_in' then return unpack(ARGV, first, last) end
  local fields = { unpack(ARGV, first, last) }
  fields[#fields + 1] = 'expires'
  fields[#fields + 1] = string.format('%.0f', due + ARGV[last])
  return unpack(fields)
end
