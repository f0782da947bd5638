"""Which cluster slot a key lives in."""

import binascii

SLOTS = 16_384


def key_slot(key: str) -> int:
    """Return the slot of a key, 0 to 16383: CRC16/XMODEM of its hash tag, or of all of it.

    The hash tag is what stands between the first `{` and the next `}`, unless that is nothing.
    """
    data = key.encode()
    start = data.find(b"{")
    if start >= 0:
        end = data.find(b"}", start + 1)
        if end > start + 1:
            data = data[start + 1 : end]
    return binascii.crc_hqx(data, 0) % SLOTS
