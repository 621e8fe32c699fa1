"""Rows in blocks, and whole numbers once each as NumPy has it."""

import numpy as np
import pytest

from chsic._util.arrays import BLOCK_ROWS, row_blocks, sorted_unique


@pytest.mark.parametrize("dtype", [np.int32, np.intp])
@pytest.mark.parametrize("size", [0, 1, 2, 1_000])
def test_sorted_unique_is_as_numpy_has_it(size, dtype):
    numbers = np.random.default_rng(size).integers(-300, 300, size).astype(dtype)
    before = numbers.copy()
    unique = sorted_unique(numbers)
    np.testing.assert_array_equal(unique, np.unique(numbers))
    assert unique.dtype == dtype
    np.testing.assert_array_equal(numbers, before)


@pytest.mark.parametrize("n", [0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 5 * BLOCK_ROWS])
def test_blocks_hold_each_row_once(n):
    rows = np.concatenate([[], *(np.arange(n)[block] for block in row_blocks(n))])
    np.testing.assert_array_equal(rows, np.arange(n))
    assert all(0 < block.stop - block.start <= BLOCK_ROWS for block in row_blocks(n))
