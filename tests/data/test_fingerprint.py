"""Different data or settings have different fingerprints, and the same ones the same."""

import dataclasses
import hashlib

import numpy as np
import pytest

from chsic.data.column import read_column
from chsic.data.fingerprint import fingerprint

ARRAY = np.arange(12.0)
COLUMN = read_column("a", np.array(["red", "blue", "red", "green"]), None)
OTHER_COLUMNS = [
    dataclasses.replace(COLUMN, name="b"),
    dataclasses.replace(COLUMN, kind="number"),
    dataclasses.replace(COLUMN, levels=("blue", "green", "rot")),
    dataclasses.replace(COLUMN, values=COLUMN.values[::-1]),
    dataclasses.replace(COLUMN, values=COLUMN.values[:3]),
]
ALL_DIFFERENT = [
    (),
    (ARRAY,),
    (ARRAY, ARRAY),
    (ARRAY[:6], ARRAY[6:]),
    (ARRAY[:5], ARRAY[5:]),
    (ARRAY.reshape(3, 4),),
    (ARRAY.reshape(4, 3),),
    (ARRAY.reshape(4, 3).T,),
    (ARRAY.astype(np.float32),),
    (ARRAY.astype(np.int64),),
    (ARRAY.astype(">f8"),),
    (ARRAY.astype(object),),
    (np.array(["ab", "c"], object),),
    (np.array(["a", "bc"], object),),
    ("ab", "c"),
    ("a", "bc"),
    ("1",),
    (1,),
    (True,),
    (None,),
    ({"rng": 0},),
    ({"rng": 1},),
    (COLUMN,),
    *[(column,) for column in OTHER_COLUMNS],
]


def test_what_differs_has_another_fingerprint():
    assert len({fingerprint(*parts) for parts in ALL_DIFFERENT}) == len(ALL_DIFFERENT)


@pytest.mark.parametrize("parts", ALL_DIFFERENT, ids=range(len(ALL_DIFFERENT)))
def test_a_copy_has_the_same_fingerprint_wherever_it_lies_in_memory(parts):
    def copy(part):
        if isinstance(part, np.ndarray):
            return np.repeat(part, 2, axis=0)[::2]
        return dataclasses.replace(part, values=copy(part.values)) if part is COLUMN else part

    assert fingerprint(*map(copy, parts)) == fingerprint(*parts)


def test_one_array_has_the_digest_of_its_shape_type_and_bytes():
    """The adapter for tigramite draws its signs by it: another one would change p-values."""
    expected = hashlib.sha256(b"((12,), '<f8')" + ARRAY.tobytes()).hexdigest()
    assert fingerprint(ARRAY) == expected
