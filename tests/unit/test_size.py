"""Sizes as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.size import LARGEST, format_size, parse_size
from echomq_worker.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("512", 512), ("512b", 512), ("64KiB", 65_536), ("64k", 65_536), ("1MiB", 1_048_576),
        ("1.5 MiB", 1_572_864), ("2g", 2 << 30), ("0", 0), (" 1kib ", 1_024), (7, 7),
        ("1TiB", 1 << 40),
    ],
)  # fmt: skip
def test_a_size_counts_in_units_of_1024(written: str | int, size: int):
    assert parse_size(written) == size


@pytest.mark.parametrize(
    "nonsense",
    ["", "k", "big", "-1", "64KB", "1MB", "1e3", "٣k", "1 000", "2PiB", -1, True, 1.5, None],
)
def test_nonsense_and_the_ambiguous_kb_are_refused(nonsense: object):
    with pytest.raises(InvalidArgumentError, match="expected one such as 512, 64KiB or 1MiB"):
        parse_size(nonsense)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("size", "written"),
    [(0, "0B"), (1023, "1023B"), (1024, "1KiB"), (1 << 20, "1MiB"), (3_565_158, "3.4MiB")],
)
def test_a_size_is_written_for_people(size: int, written: str):
    assert format_size(size) == written


@given(st.integers(min_value=0, max_value=LARGEST))
def test_a_written_size_reads_back_to_within_a_twentieth(size: int):
    assert abs(parse_size(format_size(size)) - size) <= size / 20
