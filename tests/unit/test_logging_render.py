"""How lines look to machines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.observe.render import render_json, render_logfmt

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.case("SEC-20")
@given(st.dictionaries(st.text(st.characters()), VALUES, max_size=5))
def test_whatever_a_line_holds_it_is_one_line(line: dict[str, object]):
    encoded = render_json(None, "info", dict(line))
    assert isinstance(json.loads(encoded), dict)
    assert b"\n" not in encoded

    logfmt = render_logfmt(None, "info", dict(line)).decode()
    assert len(logfmt.splitlines()) <= 1


def test_logfmt_quotes_what_would_not_be_one_word():
    line = {"event": "a b", "n": 1, "ok": True, "none": None, "q": 'x"y', "l": [1, "z"], "a b": 0}

    assert render_logfmt(None, "info", line).decode() == (
        'event="a b" n=1 ok=true none= q="x\\"y" l="[1,\\"z\\"]" a_b=0'
    )


def test_logfmt_escapes_line_ends_that_only_unicode_knows():
    assert render_logfmt(None, "info", {"said": "a\x85b\u2028c"}) == rb'said="a\u0085b\u2028c"'
