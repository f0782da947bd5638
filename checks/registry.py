"""All checks, the slowest first, so that the others run beside them."""

from checks.cases import cases, write_cases
from checks.check import Check
from checks.constraints import constraints
from checks.lua_headers import lua_headers
from checks.lua_lint import lua_lint
from checks.names import names, write_names
from checks.size import sizes
from checks.tables import tables, write_tables
from checks.tools import formatting, layers, linting, typing
from checks.traffic.check import traffic, write_traffic
from checks.words import words

CHECKS = (
    Check("types", "pyright strict finds nothing", typing),
    Check("traffic", "no scenario costs 10 % more commands than it did", traffic, write_traffic),
    Check("format", "ruff would format nothing differently", formatting),
    Check("lint", "ruff finds nothing, with all its rules", linting),
    Check("layers", "imports point down, and only store knows redis", layers),
    Check("lua", "luacheck finds nothing in the scripts as they are sent", lua_lint),
    Check("headers", "every Lua file says what it does, takes and replies", lua_headers),
    Check("size", "files have at most 300 lines, functions at most 40", sizes),
    Check("words", "no machine's paths, registry hosts or unfinished thoughts", words),
    Check("names", "public names and signatures are the frozen ones", names, write_names),
    Check("tables", "the README's generated parts are up to date", tables, write_tables),
    Check("cases", "every known fault has a test, or a reason why not", cases, write_cases),
    Check("constraints", "pinned dependencies have hashes and no host", constraints),
)
