"""Any value into an array of a field's dtype, without losing anything: what Writer calls for values that are not yet such arrays.

Rules: arrays convert where numpy calls the cast safe (int32 to int64, not float64 to float32). Python numbers, numpy
scalars and nested lists of numbers convert by value: 3 fits uint8, 300 does not, 2.5 is no integer. Nothing wraps.
"""

from typing import Any

import numpy as np


def coerce(value: Any, name: str, dtype_name: str, dtype: np.dtype[Any], content: str) -> np.ndarray[Any, Any]:
    """An array of `dtype` in C order with value's shape. TypeError, ValueError: naming the field, expected and found."""
    if isinstance(value, str):
        if content != "text":
            raise TypeError(f"field {name}: expected {dtype_name}, found str (only fields of content 'text' take it)")
        value = value.encode("utf-8")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _from_bytes(value, name, dtype_name, dtype)
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        array = np.asarray(value)
        if array.ndim > 0:
            return _from_array(array, name, dtype_name, dtype)
        value = array[()]
    return _from_numbers(value, name, dtype_name, dtype)


def _from_bytes(value: Any, name: str, dtype_name: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if isinstance(value, memoryview) and value.format != "B":
        return _from_array(np.asarray(value), name, dtype_name, dtype)
    if dtype != np.uint8:
        raise TypeError(f"field {name}: expected {dtype_name}, found {type(value).__name__} (bytes fit uint8 only)")
    return np.frombuffer(value, np.uint8)


def _from_array(array: np.ndarray[Any, Any], name: str, dtype_name: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    bits = dtype_name == "bfloat16" and array.dtype == np.uint16
    if bits and dtype != np.uint16:
        array = np.ascontiguousarray(array).view(dtype)
    if array.dtype.kind in "iu" and dtype_name == "bfloat16" and not bits:
        raise TypeError(f"field {name}: expected bfloat16 or its bits as uint16, found {array.dtype}")
    if not np.can_cast(array.dtype, dtype, "safe"):
        raise TypeError(f"field {name}: expected {dtype_name}, found {array.dtype}; convert it: .astype({dtype_name!r})")
    return np.ascontiguousarray(array, dtype).reshape(array.shape)


def _from_numbers(value: Any, name: str, dtype_name: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if value is None:
        raise TypeError(f"field {name}: expected {dtype_name}, found None")
    try:
        given = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"field {name}: {error}") from None
    if given.dtype.kind == "O" and given.size and all(isinstance(v, int) for v in given.flat):
        return _from_integers(given, name, dtype_name, dtype)  # beyond 64 bits
    if given.size == 0 and isinstance(value, (list, tuple)):
        return np.zeros(given.shape, dtype)
    if given.dtype.kind not in "biuf" and given.dtype != dtype:
        raise TypeError(f"field {name}: expected {dtype_name}, found {type(value).__name__}")
    if dtype.kind == "b":
        return _to_bool(given, name)
    if dtype.kind in "iu" and dtype_name != "bfloat16":
        return _from_integers(given, name, dtype_name, dtype)
    return _to_float(given, name, dtype_name, dtype)


def _from_integers(given: np.ndarray[Any, Any], name: str, dtype_name: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if dtype.kind not in "iu":
        raise ValueError(f"field {name}: a number does not fit {dtype_name}")
    if given.dtype.kind == "f" and not (np.isfinite(given).all() and (given == np.floor(given)).all()):
        raise ValueError(f"field {name}: expected {dtype_name}, found a number that is no integer")
    limits = np.iinfo(dtype)
    low, high = int(given.min()), int(given.max())
    if low < limits.min or high > limits.max:
        wrong = low if low < limits.min else high
        raise ValueError(f"field {name}: {wrong} does not fit {dtype_name} ({limits.min} to {limits.max})")
    return np.ascontiguousarray(given).astype(dtype).reshape(given.shape)


def _to_bool(given: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    if not ((given == 0) | (given == 1)).all():
        raise ValueError(f"field {name}: expected bool, found a number other than 0 and 1")
    return np.ascontiguousarray(given != 0).reshape(given.shape)


def _to_float(given: np.ndarray[Any, Any], name: str, dtype_name: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if dtype.kind == "u":
        raise TypeError(f"field {name}: writing numbers as bfloat16 needs the package ml_dtypes")
    with np.errstate(over="ignore"):
        made = np.ascontiguousarray(given).astype(dtype).reshape(given.shape)
    back = made.astype(np.float64)
    if (np.isinf(back) & np.isfinite(given)).any():
        raise ValueError(f"field {name}: a number is too large for {dtype_name}")
    if given.dtype.kind in "iu" and (back != given).any():
        raise ValueError(f"field {name}: an integer is not exact in {dtype_name}")
    return made
