"""A cache of the values used last, bounded by their number or their bytes, for several threads."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable
from types import FunctionType, ModuleType
from typing import Any, Generic, TypeVar

import numpy as np
from cachetools import LRUCache

from chsic._util.forks import Lock

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """Least recently used values go first. Pickling it gives an empty one.

    Parameters
    ----------
    maxsize : float
        Largest sum of the weights of all values.
    weigh : callable, optional
        Weight of a value, asked for with the value, as it may have grown; 1 if not given, so that
        `maxsize` is a number of values.

    Examples
    --------
    >>> from chsic._util.cache import Cache
    >>> squares = Cache(maxsize=2)
    >>> [squares.get(k, lambda k=k: k * k) for k in (1, 2, 3)], len(squares)
    ([1, 4, 9], 2)
    """

    def __init__(self, maxsize: float, weigh: Callable[[Value], float] | None = None) -> None:
        self._maxsize, self._weigh = maxsize, weigh
        self._lock = Lock(self._clear)
        self._clear()

    def _clear(self) -> None:
        self._values: LRUCache[Hashable, Value] = LRUCache(self._maxsize, getsizeof=self._weigh)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def weight(self) -> float:
        """Sum of the weights of all values."""
        return float(self._values.currsize)

    def __reduce__(self) -> tuple[type[Cache[Value]], tuple[Any, ...]]:
        return type(self), (self._maxsize, self._weigh)

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made if it is not there."""
        with self._lock:
            if key in self._values:
                return self._insert(key, self._values.pop(key))
        value = make()  # threads may make it twice, but never wait for each other
        with self._lock:
            return self._insert(key, self._values.get(key, value))

    def _insert(self, key: Hashable, value: Value) -> Value:
        with contextlib.suppress(ValueError):  # it is larger than the whole cache
            self._values[key] = value
        return value


def nbytes_of(value: object) -> int:
    """Return the bytes of the arrays inside of a value, each counted once.

    They are looked for in tuples, lists, dictionaries and attributes. What has a number ``nbytes``
    of its own, as arrays do, weighs that much; a view weighs as much as the array it keeps alive.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic._util.cache import nbytes_of
    >>> many = np.zeros(100)
    >>> nbytes_of({"all": many, "again": [many, many[:5]], "other": (np.zeros(10), "text")})
    880
    """
    total, visited, waiting = 0, set[int](), [value]
    while waiting:
        part = waiting.pop()
        while isinstance(part, np.ndarray) and isinstance(part.base, np.ndarray):
            part = part.base
        if id(part) in visited:
            continue
        visited.add(id(part))
        if isinstance(part, tuple | list):
            waiting += part
        elif isinstance(part, dict):
            waiting += part.values()
        elif isinstance(size := getattr(part, "nbytes", None), int):
            total += size
        elif hasattr(part, "__dict__") and not isinstance(part, type | ModuleType | FunctionType):
            waiting += vars(part).values()
    return total
