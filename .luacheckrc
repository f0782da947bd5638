-- What luacheck (part of `python -m checks`) holds the flattened scripts to: those that the loader
-- sends, with operands and snippets in place, so that an operand that nobody uses is found too.
-- Redis runs Lua 5.1. A script gets no other globals on purpose: payloads are never decoded in one.
std = "lua51"
read_globals = { "redis", "KEYS", "ARGV" }
max_line_length = 120

-- A snippet may name a parameter as some script names an operand.
ignore = { "431" }
