"""Pairs as lists of partners: for every sample, those it is compared with, in increasing order.

Each pair stands in two lists, so that rows of a Laplacian can be computed one by one. With four
bytes for a partner, that is half of what two arrays of samples take.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, TypeVar

import numpy as np
import scipy.sparse
from array_api_compat import array_namespace, device, is_numpy_array
from numpy.typing import NDArray

from chsic._util.validate import Index
from chsic.kernels.line_distances import pick
from chsic.pairs.graph import expand

CHUNK = 2**15  # samples whose lists are made together

Values = TypeVar("Values")


@dataclasses.dataclass(frozen=True, eq=False)
class Neighbours:
    """The partners of sample l are partners[starts[l]:starts[l + 1]].

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.pairs.neighbour_lists import Neighbours
    >>> lists = Neighbours.of_directed(np.array([[1], [0], [1]]))
    >>> lists.partners, lists.n_pairs
    (array([1, 0, 2, 1]), 2)
    """

    starts: Index
    partners: NDArray[np.integer]

    @classmethod
    def of_directed(cls, nearest: NDArray[np.integer]) -> Neighbours:
        """Join every sample with those in its row of `nearest`, itself apart."""
        n = len(nearest)
        counts = np.empty(n, np.intp)
        partners = np.empty(
            2 * nearest.size, nearest.dtype
        )  # at most; memory is used as it is filled
        total = 0
        for start in range(0, n, CHUNK):
            own = nearest[start : start + CHUNK]
            here = np.arange(start, start + len(own))
            # Those whose neighbour a sample is, beside its own neighbours.
            keys = np.concatenate(
                [(here[:, np.newaxis] * n + own).ravel(), _keys_back(nearest, here)]
            )
            keys.sort()
            samples, others = np.divmod(keys[np.append(True, keys[1:] != keys[:-1])], n)
            apart = samples != others
            counts[here] = np.bincount(samples[apart] - start, minlength=len(own))
            end = total + int(np.count_nonzero(apart))
            partners[total:end] = others[apart]
            total = end
        return cls(np.concatenate([[0], np.cumsum(counts)]), partners[:total])

    @classmethod
    def of_pairs(cls, i: Index, j: Index, n: int) -> Neighbours:
        """Take pairs that are distinct."""
        samples, others = np.concatenate([i, j]), np.concatenate([j, i])
        order = np.lexsort((others, samples))
        starts = np.concatenate([[0], np.cumsum(np.bincount(samples, minlength=n))])
        return cls(starts, others[order].astype(narrow_type(n)))

    @property
    def degrees(self) -> Index:
        """Number of partners of each sample."""
        return np.diff(self.starts)

    @property
    def n_pairs(self) -> int:
        """Number of pairs, each of which is in two lists."""
        return len(self.partners) // 2

    @functools.cached_property
    def _behind(self) -> Index:
        """Where in its list the partners of a sample begin that come after it."""
        n = len(self.starts) - 1
        begins = self.starts[:-1].copy()
        for start in range(0, n, CHUNK):
            stop = min(start + CHUNK, n)
            rows, places = expand(self.starts[start:stop], self.starts[start + 1 : stop + 1])
            before = rows[self.partners[places] < rows + start]
            begins[start:stop] += np.bincount(before, minlength=stop - start)
        return begins

    def pairs(self, ranks: Index | None = None) -> tuple[Index, Index]:
        """List the pairs in order, the smaller sample first, or those at some ranks of the list."""
        rows, places = (
            expand(self._behind, self.starts[1:])
            if ranks is None
            else pick(self._behind, self.starts[1:], ranks)
        )
        return rows, self.partners[places].astype(np.intp)

    def laplacian_times(self, values: Values) -> Values:
        """Return rows of Lap V: degrees times rows of V, less the sum over partners.

        Lists may be those of the first samples only: there are as many rows as lists. `values` is
        an array of any library that follows the array API standard.
        """
        product: Values
        if is_numpy_array(values):
            rows = values[: len(self.starts) - 1]
            product = self.degrees[:, np.newaxis] * rows
            product -= self._adjacency(len(values)) @ values
        else:
            product = sum_of_differences(self.starts, self.partners, values)
        return product

    def _adjacency(self, n: int) -> scipy.sparse.csr_array:
        ones, shape = np.ones(len(self.partners)), (len(self.starts) - 1, n)
        return scipy.sparse.csr_array((ones, self.partners, self.starts), shape=shape)

    def beside(self, samples: Index) -> Index:
        """Return the partners of some samples that are not among them."""
        near = np.zeros(len(self.starts) - 1, bool)
        near[self._partners_of(samples)] = True
        near[samples] = False
        return np.flatnonzero(near)

    def numbered(self, samples: Index, number: int) -> Neighbours:
        """Return the lists of the first `number` of some samples, all their partners among them.

        Samples are numbered in the order given.
        """
        numbers = np.empty(len(self.starts) - 1, self.partners.dtype)
        numbers[samples] = np.arange(len(samples))
        first = samples[:number]
        starts = np.concatenate([[0], np.cumsum(self.starts[first + 1] - self.starts[first])])
        return Neighbours(starts, numbers[self._partners_of(first)])

    def _partners_of(self, samples: Index) -> NDArray[np.integer]:
        """Return the lists of some samples, one after the other."""
        return self.partners[expand(self.starts[samples], self.starts[samples + 1])[1]]


def sum_of_differences(starts: Index, partners: NDArray[np.integer], values: Any) -> Any:
    """Return sum_j (v_i - v_j) over the partners j of each i, in operations of the array API.

    The differences are added up by prefix sums, which stay small: what a pair adds to the one of
    its samples, it takes off from the other.
    """
    xp, n = array_namespace(values), len(starts) - 1

    def take(rows: NDArray[np.integer], array: Any) -> Any:
        return xp.take(array, xp.asarray(rows, device=device(values)), axis=0)

    sums = []
    for start in range(0, n, CHUNK):
        bounds = starts[start : start + CHUNK + 1]
        here = np.arange(start, start + len(bounds) - 1)
        others = partners[bounds[0] : bounds[-1]]
        apart = take(np.repeat(here, np.diff(bounds)), values) - take(others, values)
        prefix = xp.cumulative_sum(apart, axis=0, include_initial=True)
        within = bounds - bounds[0]
        sums.append(take(within[1:], prefix) - take(within[:-1], prefix))
    return xp.concat(sums, axis=0)


def _keys_back(nearest: NDArray[np.integer], targets: Index) -> Index:
    """Return target * n + sample for all samples that have one of some targets as a neighbour."""
    n, k = nearest.shape
    keys = []
    for start in range(0, n, CHUNK):
        ends = nearest[start : start + CHUNK].ravel()
        hits = np.flatnonzero((ends >= targets[0]) & (ends <= targets[-1]))
        keys.append(ends[hits].astype(np.intp) * n + (start + hits // k))
    return np.concatenate(keys)


def narrow_type(n: int) -> type[np.integer]:
    """Return the type with fewest bytes that counts n samples."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64
