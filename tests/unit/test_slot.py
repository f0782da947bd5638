import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.protocol.slot import SLOTS, key_slot


def crc16(text: str) -> int:
    """CRC16/XMODEM, bit by bit as its polynomial is written."""
    crc = 0
    for byte in text.encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


@pytest.mark.parametrize(
    ("key", "slot"), [("123456789", 12_739), ("orders", 105), ("emq", 9_051), ("default", 5_718)]
)
def test_published_slots_come_out(key: str, slot: int):
    assert key_slot(key) == slot


@pytest.mark.parametrize(
    ("key", "same_as"),
    [
        ("emq:{orders}:pending", "orders"),
        ("{orders}", "orders"),
        ("a{orders}b{emq}", "orders"),
        ("a{{orders}}", "{orders"),
    ],
)
def test_only_the_first_hash_tag_counts(key: str, same_as: str):
    assert key_slot(key) == key_slot(same_as)


@pytest.mark.parametrize("key", ["{}orders", "a{}b{orders}", "a{orders", "a}orders{"])
def test_without_a_hash_tag_the_whole_key_counts(key: str):
    assert key_slot(key) == crc16(key) % SLOTS


@given(st.text(st.characters(exclude_characters="{}", codec="utf-8")))
def test_a_slot_is_the_remainder_of_the_checksum(key: str):
    assert key_slot(key) == crc16(key) % SLOTS
