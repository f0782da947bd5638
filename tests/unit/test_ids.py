import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.ids import (
    EPOCH_MS,
    NODE_LIMIT,
    SEQUENCE_LIMIT,
    SNOWFLAKE_LIMIT,
    TIME_LIMIT,
    BrandedId,
    hash32,
    parse_group,
    parse_id,
)
from echomq_worker.errors import InvalidIdError

SNOWFLAKES = st.integers(0, SNOWFLAKE_LIMIT - 1)


@given(SNOWFLAKES)
def test_what_was_encoded_decodes_to_the_same_number(snowflake: int):
    text = BrandedId.of("JOB", snowflake).text
    assert len(text) == 14
    assert parse_id(text).snowflake == snowflake


@given(SNOWFLAKES, SNOWFLAKES)
def test_ids_sort_by_their_bytes_as_their_numbers_do(one: int, other: int):
    texts = BrandedId.of("JOB", one).text.encode(), BrandedId.of("JOB", other).text.encode()
    assert (texts[0] < texts[1]) == (one < other)


@given(
    st.integers(EPOCH_MS, EPOCH_MS + TIME_LIMIT - 1),
    st.integers(0, NODE_LIMIT - 1),
    st.integers(0, SEQUENCE_LIMIT - 1),
)
def test_an_id_says_when_where_and_in_which_order_it_was_minted(
    unix_ms: int, node: int, sequence: int
):
    packed = BrandedId.pack("JOB", unix_ms, node, sequence)
    assert (packed.unix_ms, packed.node, packed.sequence) == (unix_ms, node, sequence)


@pytest.mark.parametrize(
    ("text", "snowflake"),
    [
        ("JOB00000000000", 0),
        ("JOB0000000000z", 61),
        ("JOB00000000010", 62),
        ("JOB0Nb1VTbfnu4", 319_436_884_017_152_000),
        ("JOBAzL8n0Y58m7", 2**63 - 1),
    ],
)
def test_published_ids_come_out_to_the_digit(text: str, snowflake: int):
    assert BrandedId.of("JOB", snowflake).text == text
    assert parse_id(text).snowflake == snowflake


@pytest.mark.parametrize(
    "text",
    [
        "",
        "JOB",
        "JOB0Nb1VTbfnu",
        "JOB0Nb1VTbfnu44",
        "JOB0Nb1VTbfnu4\n",
        "JOB0Nb1VTb-nu4",
        "JOB0Nb1VTb nu4",
        "JOB0Nb1VTbfné",
        "JOB0Nb1VTbfn\N{ARABIC-INDIC DIGIT ONE}4",
        "job0Nb1VTbfnu4",
        "JO10Nb1VTbfnu4",
        "JOBAzL8n0Y58m8",
        "JOBzzzzzzzzzzz",
    ],
)
def test_a_text_that_is_no_id_is_refused_with_what_was_expected(text: str):
    with pytest.raises(InvalidIdError, match=r"no branded id: expected three capital letters"):
        parse_id(text, None)


def test_an_id_of_another_kind_is_refused_unless_any_will_do():
    with pytest.raises(InvalidIdError, match=r"is an id of PRT: expected one of JOB"):
        parse_id("PRT0LaneAlpha1")
    assert parse_id("PRT0LaneAlpha1", "PRT").namespace == "PRT"
    assert parse_group("PRT0LaneAlpha1") == "PRT0LaneAlpha1"


def test_a_hostile_text_is_cut_in_the_error():
    with pytest.raises(InvalidIdError) as caught:
        parse_id("x" * 1_000_000)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("snowflake", [-1, 2**63])
def test_a_number_that_does_not_fit_is_refused(snowflake: int):
    with pytest.raises(InvalidIdError, match="no snowflake number"):
        BrandedId.of("JOB", snowflake)


@pytest.mark.parametrize("namespace", ["", "JO", "JOBS", "job", "JÖB", "JOB\n"])
def test_a_namespace_is_three_capital_letters(namespace: str):
    with pytest.raises(InvalidIdError, match="no id namespace"):
        BrandedId.of(namespace, 1)


@pytest.mark.parametrize(
    ("unix_ms", "node", "sequence"),
    [
        (EPOCH_MS - 1, 0, 0),
        (EPOCH_MS + TIME_LIMIT, 0, 0),
        (EPOCH_MS, NODE_LIMIT, 0),
        (EPOCH_MS, -1, 0),
        (EPOCH_MS, 0, SEQUENCE_LIMIT),
        (EPOCH_MS, 0, -1),
    ],
)
def test_parts_out_of_range_make_no_id(unix_ms: int, node: int, sequence: int):
    with pytest.raises(InvalidIdError, match="no id for time"):
        BrandedId.pack("JOB", unix_ms, node, sequence)


def test_the_hash_is_the_published_one():
    assert hash32(parse_id("USR0KHTOWnGLuC", "USR").snowflake) == 234_878_118
    assert hash32(0) == 0
