"""Classes of samples and batches: named tuples, one class for each list of field names.

They behave as collections.namedtuple classes do (`_fields`, `_asdict`, `_make`, `_replace`, unpacking, pickling), which is
what torch's collate function, pin_memory, Lightning and timm look for. Two differences: any field name is allowed (a name
that is a keyword or starts with an underscore is reached by position or getattr), and the C module makes instances
without calling the class.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Iterable, TypeVar

try:
    from _collections import _tuplegetter  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # another interpreter
    from operator import itemgetter

    def _tuplegetter(index: int, doc: str) -> Any:
        return property(itemgetter(index), doc=doc)


_Self = TypeVar("_Self", bound="_Named")


class _Named(tuple[Any, ...]):
    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()

    def __new__(cls: type[_Self], *values: Any, **named: Any) -> _Self:
        if named:
            rest = cls._fields[len(values):]
            unknown = [name for name in named if name not in rest]
            if unknown:
                raise TypeError(f"{cls.__name__} takes no value {unknown[0]!r} here; fields: {', '.join(cls._fields)}")
            values += tuple(named[name] for name in rest if name in named)
        if len(values) != len(cls._fields):
            raise TypeError(f"{cls.__name__} takes {len(cls._fields)} values ({', '.join(cls._fields)}), got {len(values)}")
        return tuple.__new__(cls, values)

    @classmethod
    def _make(cls: type[_Self], values: Iterable[Any]) -> _Self:
        """One from an iterable, in field order. TypeError: another number of values."""
        return cls(*values)

    def _asdict(self) -> dict[str, Any]:
        """The values by field name."""
        return dict(zip(self._fields, self))

    def _replace(self: _Self, **named: Any) -> _Self:
        """The same with some values exchanged. ValueError: not a field."""
        made = {**self._asdict(), **named}
        if len(made) != len(self._fields):
            raise ValueError(f"not fields: {', '.join(sorted(named.keys() - set(self._fields)))}")
        return type(self)(*made.values())

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self))
        return f"{type(self).__name__}({parts})"

    def __hash__(self) -> int:
        # Instances made by the C module never went through tuple.__new__, which from Python 3.14 on prepares a
        # cached hash; a plain tuple's hash is right everywhere.
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._kind, self._fields, tuple(self))

    _kind: ClassVar[int] = 0

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Sample(_Named):
    """One record: ds[i]. A named tuple with the data set's fields, made without a copy.

    Values are read-only numpy views of the field's shape and dtype; int, float or bool for scalar fields.
    """

    __slots__ = ()
    _kind = 0


class Batch(_Named):
    """Several records: ds[a:b] or ds[array]. A named tuple of arrays [n, shape...]; lists of arrays for variable fields."""

    __slots__ = ()
    _kind = 1


@lru_cache(maxsize=None)
def sample_types(fields: tuple[str, ...]) -> tuple[type[Sample], type[Batch]]:
    """The two classes for these field names, in order."""
    return _subclass(Sample, fields), _subclass(Batch, fields)


def _subclass(base: Any, fields: tuple[str, ...]) -> Any:
    members: dict[str, Any] = {"__slots__": (), "__module__": __name__, "__doc__": base.__doc__, "_fields": fields}
    for index, name in enumerate(fields):
        if not name.startswith("_"):  # never hides _fields, _asdict and the like
            members[name] = _tuplegetter(index, f"Field {index}: {name}")
    members["__match_args__"] = fields
    return type(base.__name__, (base,), members)


def _rebuild(kind: int, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return tuple.__new__(sample_types(fields)[kind], values)
