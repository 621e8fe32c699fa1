"""Memory of freed arrays stays with the process, for the next array.

A test makes and drops many arrays of some megabytes. The C library of Linux gives memory back to
the system whenever more than a threshold is free at the end of its heap, and the next array then
waits for fresh pages. The threshold is twice the largest block, of at most 32 MB, that the system
gave by itself and got back (``M_MMAP_THRESHOLD`` in ``man mallopt``); programs that have dropped
such an array are there already. From the second time on the block is part of the heap, for which
NumPy asks for large pages, as it does for every large array: there are then few pages to wait for.
``benchmarks/malloc.py`` measures the gain.
"""

from __future__ import annotations

import numpy as np

BLOCK = 2**25 - 2**13  # bytes, just below 32 MB


def keep_freed_memory() -> None:
    """Allocate a block and free it, never touched; other allocators do not mind."""
    np.empty(BLOCK, np.uint8)
