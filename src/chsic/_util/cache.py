"""What was made before, and may be asked for again: bounded, and safe to share between threads."""

from __future__ import annotations

import gc
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from types import FunctionType, ModuleType
from typing import Any, Generic, TypeVar

import numpy as np

from chsic._util.forks import Lock

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by key, those used last; the others go if there are more than `most`.

    Examples
    --------
    >>> from chsic._util.cache import Kept
    >>> squares = Kept(most=2)
    >>> [squares.of(k, lambda k=k: k * k) for k in (1, 2, 3)], len(squares)
    ([1, 4, 9], 2)
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock(self._clear)
        self._clear()

    def _clear(self) -> None:
        self._found: OrderedDict[Hashable, Value] = OrderedDict()

    def _count(self) -> int:
        return len(self._found)

    def _add(self, key: Hashable, value: Value) -> None:
        self._found[key] = value

    def _use(self, key: Hashable) -> None:
        self._found.move_to_end(key)

    def _remove_oldest(self) -> None:
        self._found.popitem(last=False)

    def __len__(self) -> int:
        return len(self._found)

    def __reduce__(self) -> tuple[type[Kept[Value]], tuple[int]]:
        return type(self), (self._most,)  # other processes start with nothing

    def of(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made if it is not there."""
        with self._lock:
            if key in self._found:
                self._use(key)
                return self._found[key]
        made = make()  # threads may make it twice, but never wait for each other
        with self._lock:
            if key not in self._found:
                self._add(key, made)
            while self._count() > self._most and self._found:
                self._remove_oldest()
        return made


class KeptArrays(Kept[Value]):
    """The same, bounded by the bytes of the arrays that all values hold; shared ones count once.

    They are counted whenever a value is asked for, as it may make further arrays for itself.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic._util.cache import KeptArrays
    >>> kept = KeptArrays(most=8_000)
    >>> shared = np.zeros(900)
    >>> [len(kept.of(k, lambda k=k: (shared, np.full(40, k)))) for k in range(5)], len(kept)
    ([2, 2, 2, 2, 2], 2)
    """

    def _clear(self) -> None:
        super()._clear()
        self._arrays: dict[Hashable, dict[int, int]] = {}  # bytes of arrays, by key and identity
        self._holders: Counter[int] = Counter()
        self._bytes = 0

    def _count(self) -> int:
        return self._bytes

    def _add(self, key: Hashable, value: Value) -> None:
        super()._add(key, value)
        self._hold(key)

    def _use(self, key: Hashable) -> None:
        super()._use(key)
        before = self._arrays.pop(key)
        self._hold(key)
        self._let_go(before)

    def _remove_oldest(self) -> None:
        # The value itself goes last: an array that is gone may leave its identity to another.
        key = next(iter(self._found))
        self._let_go(self._arrays.pop(key))
        super()._remove_oldest()

    def _hold(self, key: Hashable) -> None:
        self._arrays[key] = arrays_in(self._found[key])
        for which, size in self._arrays[key].items():
            self._bytes += 0 if self._holders[which] else size
            self._holders[which] += 1

    def _let_go(self, arrays: dict[int, int]) -> None:
        for which, size in arrays.items():
            self._holders[which] -= 1
            if not self._holders[which]:
                del self._holders[which]
                self._bytes -= size


def arrays_in(value: Any) -> dict[int, int]:
    """Return the bytes of all arrays that a value leads to, in closures as well, by identity."""
    found: dict[int, int] = {}
    seen: set[int] = set()
    left = [value]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | str | bytes | int | float):
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            owner = one
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            found[id(owner)] = owner.nbytes
        elif isinstance(one, FunctionType):  # not its module, which leads to everything
            left += [cell.cell_contents for cell in one.__closure__ or ()]
        else:
            left += gc.get_referents(one)
    return found
