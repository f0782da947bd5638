-- The last occurrences of a scheduler that made jobs, each with what became of its job. What is to be
-- written is collected, and goes into the hash with the rest.
local MOST_RUNS = 10

local function read_runs(text)
  local runs = { instants = {}, known = {}, notes = {} }
  for instant in string.gmatch(text or '', '%S+') do
    runs.instants[#runs.instants + 1] = instant
    runs.known[instant] = true
  end
  return runs
end

local function add_run(runs, instant, note)
  if not runs.known[instant] then runs.instants[#runs.instants + 1] = instant end
  runs.known[instant] = true
  runs.notes[instant] = note
end

-- Adds the fields to write to `set`, and the names of those to take away to `gone`.
local function prune_runs(runs, set, gone)
  local first = math.max(1, #runs.instants - MOST_RUNS + 1)
  for i = math.max(1, first - 100), first - 1 do gone[#gone + 1] = 'run:' .. runs.instants[i] end
  set[#set + 1] = 'runs'
  set[#set + 1] = table.concat(runs.instants, ' ', first)
  for i = first, #runs.instants do
    local instant = runs.instants[i]
    if runs.notes[instant] then
      set[#set + 1] = 'run:' .. instant
      set[#set + 1] = runs.notes[instant]
    end
  end
end
