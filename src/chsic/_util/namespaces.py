"""Arrays of any library that follows the array API standard: NumPy, torch and others."""

from __future__ import annotations

from typing import Any

import array_api_compat.numpy
import numpy as np
from array_api_compat import array_namespace, device, is_torch_array
from numpy.typing import NDArray


def namespace(values: Any) -> Any:
    """Return the functions of the standard for an array; for NumPy's at once.

    Examples
    --------
    >>> import numpy as np
    >>> from chsic._util.namespaces import namespace
    >>> namespace(np.zeros(2)).concat([np.zeros(1), np.ones(1)])
    array([0., 1.])
    """
    if isinstance(values, np.ndarray):
        return array_api_compat.numpy
    return array_namespace(values)


def beside(values: Any, array: NDArray[Any]) -> Any:
    """Return numbers or indices of a plan as an array where `values` are, numbers in their type.

    Examples
    --------
    >>> import array_api_strict
    >>> import numpy as np
    >>> from chsic._util.namespaces import beside
    >>> values = array_api_strict.asarray([1.0, 2.0], dtype=array_api_strict.float32)
    >>> (values * beside(values, np.array([3.0, 4.0]))).dtype
    array_api_strict.float32
    """
    if isinstance(values, np.ndarray):
        return array
    dtype = values.dtype if array.dtype.kind == "f" else None
    return namespace(values).asarray(array, dtype=dtype, device=device(values))


def as_numpy(values: Any) -> NDArray[Any]:
    """Return an array, which should be small, as one of NumPy from wherever it is.

    Examples
    --------
    >>> import array_api_strict
    >>> from chsic._util.namespaces import as_numpy
    >>> as_numpy(array_api_strict.asarray([1.0, 2.0]))
    array([1., 2.])
    """
    if isinstance(values, np.ndarray):
        return values
    return np.from_dlpack(values.cpu() if is_torch_array(values) else values)
