# mypy: ignore-errors
# ruff: noqa
"""Classes of `collections` that CPython writes in Python, as programs derive from them.

This text is evaluated like a module of the program, so that a method which a class overrides is called where
CPython calls it; nothing imports it. Where releases of Python differ, both ways are here.
"""

from __future__ import annotations

import collections.abc
import sys
from typing import Any


#: Stands for code that is not here: it may do anything with its arguments.
_elsewhere: Any = collections.abc.MutableMapping.popitem
#: Stands for a method that is not here and changes nothing.
_unknown: Any = collections.abc.MutableMapping.__reversed__


def _not_followed(self: Any, *args: Any, **kwargs: Any) -> Any:
    return _elsewhere(self, *args, **kwargs)


class _View(collections.abc.Sized):
    """A view of a mapping."""

    def __init__(self, mapping: Any) -> None:
        self._mapping = mapping

    def __len__(self) -> Any:
        return len(self._mapping)


class _Keys(_View):
    """``mapping.keys()``."""

    def __contains__(self, key: Any) -> Any:
        return key in self._mapping

    def __iter__(self) -> Any:
        yield from self._mapping


class _Items(_View):
    """``mapping.items()``."""

    def __contains__(self, item: Any) -> Any:
        key, value = item
        try:
            found = self._mapping[key]
        except KeyError:
            return False
        return found is value or found == value

    def __iter__(self) -> Any:
        for key in self._mapping:
            yield (key, self._mapping[key])


class _Values(_View):
    """``mapping.values()``."""

    def __contains__(self, value: Any) -> Any:
        for key in self._mapping:
            found = self._mapping[key]
            if found is value or found == value:
                return True
        return False

    def __iter__(self) -> Any:
        for key in self._mapping:
            yield self._mapping[key]


def _is_plain(mapping: Any) -> Any:
    """Return whether a `UserDict` has an item if and only if its data do."""
    own = getattr(type(mapping), "__getitem__", None)
    return own is UserDict.__getitem__ and not hasattr(type(mapping), "__missing__")


class _Mapping:
    """`collections.abc.MutableMapping`, without its being abstract."""

    __hash__ = None

    def keys(self) -> Any:
        return _Keys(self)

    def items(self) -> Any:
        return _Items(self)

    def values(self) -> Any:
        return _Values(self)

    def __eq__(self, other: Any) -> Any:
        return dict(self.items()) == dict(other.items())

    def pop(self, key: Any, *default: Any) -> Any:
        if default:
            try:
                value = self[key]
            except KeyError:
                return default[0]
        else:
            value = self[key]
        del self[key]
        return value

    def __ne__(self, other: Any) -> Any:
        return not self == other

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if _is_plain(self):
            if key in self.data:
                return self.data[key]
            self[key] = default
            return default
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return default

    def update(self, other: Any = (), /, **kwargs: Any) -> None:
        if isinstance(other, dict):
            for key in other:
                self[key] = other[key]
        elif hasattr(other, "keys"):
            for key in other.keys():
                self[key] = other[key]
        else:
            for key, value in other:
                self[key] = value
        for key, value in kwargs.items():
            self[key] = value

    popitem = clear = _not_followed


class UserDict(_Mapping):
    """`collections.UserDict`: a mapping whose items are in ``data``."""

    def __init__(self, dict: Any = None, /, **kwargs: Any) -> None:
        self.data: Any = {}
        if dict is not None:
            self.update(dict)
        if kwargs:
            self.update(kwargs)

    def __len__(self) -> Any:
        return len(self.data)

    def __getitem__(self, key: Any) -> Any:
        if key in self.data:
            return self.data[key]
        if hasattr(self.__class__, "__missing__"):
            return self.__class__.__missing__(self, key)
        raise KeyError(key)

    def __setitem__(self, key: Any, item: Any) -> None:
        self.data[key] = item

    def __delitem__(self, key: Any) -> None:
        del self.data[key]

    def __iter__(self) -> Any:
        return iter(self.data)

    def __contains__(self, key: Any) -> Any:
        return key in self.data

    def get(self, key: Any, default: Any = None) -> Any:
        if _is_plain(self) and type(self).__contains__ is UserDict.__contains__:
            return self.data[key] if key in self.data else default
        if sys.version_info >= (3, 12):
            if key in self:
                return self[key]
            return default
        try:
            return self[key]
        except KeyError:
            return default

    def __or__(self, other: Any) -> Any:
        if isinstance(other, UserDict):
            return self.__class__(self.data | other.data)
        return self.__class__(self.data | other)

    def __ror__(self, other: Any) -> Any:
        if isinstance(other, UserDict):
            return self.__class__(other.data | self.data)
        return self.__class__(other | self.data)

    def __ior__(self, other: Any) -> Any:
        if isinstance(other, UserDict):
            self.data |= other.data
        else:
            self.data |= other
        return self

    copy = fromkeys = _not_followed

    __repr__ = __copy__ = _unknown


def _listed(other: Any) -> Any:
    return other.data if isinstance(other, UserList) else other


class UserList:
    """`collections.UserList`: a list whose items are in ``data``."""

    __hash__ = None

    def __init__(self, initlist: Any = None) -> None:
        self.data: Any = []
        if initlist is not None:
            if isinstance(initlist, UserList):
                self.data = list(initlist.data)
            else:
                self.data = list(initlist)

    def __lt__(self, other: Any) -> Any:
        return self.data < _listed(other)

    def __le__(self, other: Any) -> Any:
        return self.data <= _listed(other)

    def __eq__(self, other: Any) -> Any:
        return self.data == _listed(other)

    def __ne__(self, other: Any) -> Any:
        return not self == other

    def __gt__(self, other: Any) -> Any:
        return self.data > _listed(other)

    def __ge__(self, other: Any) -> Any:
        return self.data >= _listed(other)

    def __contains__(self, item: Any) -> Any:
        return item in self.data

    def __len__(self) -> Any:
        return len(self.data)

    def __iter__(self) -> Any:
        if type(self).__getitem__ is UserList.__getitem__:
            return iter(self.data)
        return self._by_index()

    def _by_index(self) -> Any:
        # `collections.abc.Sequence`: until an index is out of range.
        i = 0
        try:
            while True:
                yield self[i]
                i += 1
        except IndexError:
            return

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return self.__class__(self.data[i])
        return self.data[i]

    def __setitem__(self, i: Any, item: Any) -> None:
        self.data[i] = item

    def __delitem__(self, i: Any) -> None:
        del self.data[i]

    def __add__(self, other: Any) -> Any:
        if isinstance(other, UserList):
            return self.__class__(self.data + other.data)
        if isinstance(other, type(self.data)):
            return self.__class__(self.data + other)
        return self.__class__(self.data + list(other))

    def __mul__(self, n: Any) -> Any:
        return self.__class__(self.data * n)

    __rmul__ = __mul__

    def append(self, item: Any) -> None:
        self.data.append(item)

    def insert(self, i: Any, item: Any) -> None:
        self.data.insert(i, item)

    def pop(self, i: Any = -1) -> Any:
        return self.data.pop(i)

    def remove(self, item: Any) -> None:
        self.data.remove(item)

    def clear(self) -> None:
        self.data.clear()

    def copy(self) -> Any:
        return self.__class__(self)

    def count(self, item: Any) -> Any:
        return self.data.count(item)

    def index(self, item: Any, *args: Any) -> Any:
        return self.data.index(item, *args)

    def reverse(self) -> None:
        self.data.reverse()

    def sort(self, /, *args: Any, **kwargs: Any) -> None:
        self.data.sort(*args, **kwargs)

    def extend(self, other: Any) -> None:
        if isinstance(other, UserList):
            self.data.extend(other.data)
        else:
            self.data.extend(other)

    def __iadd__(self, other: Any) -> Any:
        if isinstance(other, UserList):
            self.data += other.data
        elif isinstance(other, type(self.data)):
            self.data += other
        else:
            self.data += list(other)
        return self

    def __imul__(self, n: Any) -> Any:
        self.data *= n
        return self

    def __radd__(self, other: Any) -> Any:
        if isinstance(other, UserList):
            return self.__class__(other.data + self.data)
        if isinstance(other, type(self.data)):
            return self.__class__(other + self.data)
        return self.__class__(list(other) + self.data)

    def __reversed__(self) -> Any:
        for i in reversed(range(len(self))):
            yield self[i]

    __copy__ = __repr__ = _unknown


class ChainMap(_Mapping):
    """`collections.ChainMap`: several mappings, of which the first that has a key counts."""

    def __init__(self, *maps: Any) -> None:
        self.maps: Any = list(maps) or [{}]

    def __missing__(self, key: Any) -> Any:
        raise KeyError(key)

    def __getitem__(self, key: Any) -> Any:
        for mapping in self.maps:
            if type(mapping) is dict:
                if key in mapping:
                    return mapping[key]
            else:
                try:
                    return mapping[key]
                except KeyError:
                    pass
        return self.__missing__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default

    def __len__(self) -> Any:
        return len(set().union(*self.maps))

    def __iter__(self) -> Any:
        found: Any = {}
        for mapping in reversed(self.maps):
            for key in mapping:
                found[key] = None
        return iter(found)

    def __contains__(self, key: Any) -> Any:
        return any(key in mapping for mapping in self.maps)

    def __bool__(self) -> Any:
        return any(self.maps)

    def new_child(self, m: Any = None, **kwargs: Any) -> Any:
        if m is None:
            m = kwargs
        elif kwargs:
            m.update(kwargs)
        return self.__class__(m, *self.maps)

    @property
    def parents(self) -> Any:
        return self.__class__(*self.maps[1:])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.maps[0][key] = value

    def __delitem__(self, key: Any) -> None:
        del self.maps[0][key]

    def pop(self, key: Any, *args: Any) -> Any:
        return self.maps[0].pop(key, *args)

    def clear(self) -> None:
        self.maps[0].clear()

    popitem = copy = fromkeys = _not_followed

    def __ior__(self, other: Any) -> Any:
        self.maps[0].update(other)
        return self

    __repr__ = __or__ = __ror__ = __copy__ = _unknown


class Counter(dict):
    """`collections.Counter`: a dict of numbers."""

    def __init__(self, iterable: Any = None, /, **kwds: Any) -> None:
        super().__init__()
        self.update(iterable, **kwds)

    def __missing__(self, key: Any) -> Any:
        return 0

    def total(self) -> Any:
        return sum(self.values())

    def most_common(self, n: Any = None) -> Any:
        rows = sorted(self.items(), key=lambda row: row[1], reverse=True)
        return rows if n is None else rows[:n]

    def elements(self) -> Any:
        for key, count in self.items():
            for _ in range(count):
                yield key

    def update(self, iterable: Any = None, /, **kwds: Any) -> None:
        if iterable is not None:
            if isinstance(iterable, dict):
                if self:
                    for key, count in iterable.items():
                        self[key] = count + self.get(key, 0)
                else:
                    super().update(iterable)
            else:
                for key in iterable:
                    self[key] = self.get(key, 0) + 1
        if kwds:
            self.update(kwds)

    def copy(self) -> Any:
        return self.__class__(self)

    subtract = fromkeys = _not_followed

    def __delitem__(self, key: Any) -> None:
        if key in self:
            super().__delitem__(key)

    def _keep_positive(self) -> Any:
        for key in [key for key, count in self.items() if not count > 0]:
            del self[key]
        return self

    def __iadd__(self, other: Any) -> Any:
        for key, count in other.items():
            self[key] += count
        return self._keep_positive()

    def __isub__(self, other: Any) -> Any:
        for key, count in other.items():
            self[key] -= count
        return self._keep_positive()

    def __ior__(self, other: Any) -> Any:
        for key, count in other.items():
            if count > self[key]:
                self[key] = count
        return self._keep_positive()

    def __iand__(self, other: Any) -> Any:
        for key, count in self.items():
            if other[key] < count:
                self[key] = other[key]
        return self._keep_positive()

    __repr__ = __add__ = __sub__ = __or__ = __and__ = __pos__ = __neg__ = __eq__ = _unknown
    __ne__ = __le__ = __lt__ = __ge__ = __gt__ = __ror__ = __reduce__ = _unknown
