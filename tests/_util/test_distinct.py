"""Whole numbers, each once: as NumPy has it."""

import numpy as np
import pytest

from chsic._util.distinct import distinct


@pytest.mark.parametrize("dtype", [np.int32, np.intp])
@pytest.mark.parametrize("size", [0, 1, 2, 1_000])
def test_as_numpy_has_it(size, dtype):
    numbers = np.random.default_rng(size).integers(-300, 300, size).astype(dtype)
    before = numbers.copy()
    found = distinct(numbers)
    np.testing.assert_array_equal(found, np.unique(numbers))
    assert found.dtype == dtype
    np.testing.assert_array_equal(numbers, before)
