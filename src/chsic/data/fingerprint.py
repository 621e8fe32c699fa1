"""A fingerprint of data and settings: the same only if all values are the same."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chsic.data.column import Column


def fingerprint(*parts: Column | NDArray[Any] | object) -> str:
    """Return the SHA-256 digest of columns, arrays and settings, in their order.

    Parameters
    ----------
    *parts : Column, array or object
        Columns count with their names, kinds and levels, and arrays with their shapes and types.
        Objects in an array, and settings, count by their ``repr``: text, numbers, None, and tuples,
        lists and dictionaries of those.

    Returns
    -------
    str
        In hexadecimal.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic.data.fingerprint import fingerprint
    >>> data, other = np.zeros((500, 9)), np.zeros((500, 9))
    >>> other[250, 4] = 1e-9  # which str(other) does not show
    >>> fingerprint(data) == fingerprint(other)
    False
    >>> fingerprint(data, {"rng": 0}) == fingerprint(data.copy(), {"rng": 0})
    True
    """
    digests = [_digest(part) for part in parts]
    # Digests have one length, so that no bytes can move from one part to the next.
    return digests[0] if len(digests) == 1 else _sha256("".join(digests).encode())


def _digest(part: object) -> str:
    if isinstance(part, Column):
        return fingerprint((part.name, part.kind, part.levels), part.values)
    if not isinstance(part, np.ndarray):
        return _sha256(repr(part).encode())
    # The bytes of objects in an array are addresses.
    values = repr(part.tolist()).encode() if part.dtype == object else part.tobytes()
    return _sha256(repr((part.shape, part.dtype.str)).encode() + values)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
