"""What was made before, and may be asked for again: bounded, and safe to share between threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by key, those used last; the others go if there are more than `most`.

    Examples
    --------
    >>> from chsic.kept import Kept
    >>> squares = Kept(most=2)
    >>> [squares.of(k, lambda k=k: k * k) for k in (1, 2, 3)], len(squares)
    ([1, 4, 9], 2)
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._found: OrderedDict[Hashable, Value] = OrderedDict()

    def __len__(self) -> int:
        return len(self._found)

    def __reduce__(self) -> tuple[type[Kept[Value]], tuple[int]]:
        return type(self), (self._most,)  # other processes start with nothing

    def of(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made if it is not there."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        made = make()  # threads may make it twice, but never wait for each other
        with self._lock:
            self._found[key] = made
            while len(self._found) > self._most:
                self._found.popitem(last=False)
        return made
