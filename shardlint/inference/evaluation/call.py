"""A call as overlays see it: bound arguments, its place, and the evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from shardlint.inference.domain.values import Value
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator


T = TypeVar("T", covariant=True)


class Keywords(dict[str, Value]):
    """The arguments by keyword of a call, which notes those that were looked at."""

    __slots__ = ("unread",)

    def __init__(self, given: Mapping[str, Value]) -> None:
        super().__init__(given)
        #: The keywords that nobody has asked for.
        self.unread = set(given)

    def __getitem__(self, key: str) -> Value:
        """Return an argument."""
        self.unread.discard(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        """Return whether an argument is given."""
        self.unread.discard(str(key))
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return an argument, or the default."""
        self.unread.discard(key)
        return super().get(key, default)

    def pop(self, key: str, *default: Any) -> Any:
        """Remove an argument, and return it or the default."""
        self.unread.discard(key)
        return super().pop(key, *default)

    def __len__(self) -> int:
        """Return the number of arguments. Who asks for it knows that there are any."""
        self.unread.clear()
        return super().__len__()

    def __iter__(self) -> Iterator[str]:
        """Yield all keywords."""
        self.unread.clear()
        return super().__iter__()

    def keys(self) -> Any:
        """Return all keywords."""
        self.unread.clear()
        return super().keys()

    def values(self) -> Any:
        """Return all arguments."""
        self.unread.clear()
        return super().values()

    def items(self) -> Any:
        """Return all keywords with their arguments."""
        self.unread.clear()
        return super().items()


class CannotBind(Exception):
    """Raised if the arguments do not fit the signature, or a starred argument hides them."""


@dataclass(slots=True)
class Call:
    """One call: ``name`` is the canonical name of what is called.

    ``opaque`` is true when a starred argument of unknown length was given: binding then fails.
    ``arg_places`` holds the place of each argument, by position or keyword; ``arguments`` has the values by
    parameter, as `bind` matched them last.
    """

    interpreter: Evaluator
    name: str
    args: Sequence[Value]
    kwargs: dict[str, Value]
    place: Place
    opaque: bool = False
    arg_places: dict[int | str, Place] = field(default_factory=dict)
    arguments: dict[str, Value | None] = field(default_factory=dict)

    def bind(self, *names: str, **defaults: Value | None) -> list[Value | None]:
        """Match the arguments with a signature and return them in its order.

        ``names`` are required; ``defaults`` may be left out and then have the value given (None for
        "not given"). A name that starts with ``_`` takes no keyword; a keyword-only parameter's
        position does no harm, since programs that misuse it do not run.
        Raises CannotBind.
        """
        order = [*names, *defaults]
        if self.opaque or len(self.args) > len(order):
            raise CannotBind(self.name)
        bound: dict[str, Value | None] = dict(zip(order, self.args, strict=False))
        for key, value in self.kwargs.items():
            if key in bound or key not in order:
                raise CannotBind(f"{self.name}: {key}")
            bound[key] = value
        if any(name not in bound for name in names):
            raise CannotBind(self.name)
        values = [bound[name] if name in bound else defaults[name] for name in order]
        self.arguments.clear()
        self.arguments.update(zip((name.removeprefix("_") for name in order), values, strict=True))
        return values

    def bound(self, *names: str, **defaults: Value | None) -> list[Value | None]:
        """Return arguments by the parameters that `bind` matched them with last.

        ``defaults`` are for parameters that not every signature has. Raises CannotBind.
        """
        known = {**defaults, **self.arguments}
        if any(name not in known for name in names):
            raise CannotBind(self.name)
        return [known[name] for name in (*names, *defaults)]

    def argument(self, position: int | None, keyword: str) -> Value | None:
        """Return one argument by position or keyword, None when it is not given."""
        if keyword in self.kwargs:
            return self.kwargs[keyword]
        if position is not None and position < len(self.args):
            return self.args[position]
        return None

    def ignore(self, *keywords: str) -> None:
        """Accept arguments by keyword that make no difference to the result."""
        if isinstance(self.kwargs, Keywords):
            self.kwargs.unread.difference_update(keywords)

    def place_of(self, position: int | None, keyword: str) -> Place:
        """Return where an argument is written, or else where the call is."""
        for key in (keyword, position):
            if key is not None and key in self.arg_places:
                return self.arg_places[key]
        return self.place

    def learn(self, position: int, keyword: str, shape: Shape) -> None:
        """Record that the call accepts an argument only if it is an array of this shape."""
        if position in self.arg_places or keyword in self.arg_places:
            self.interpreter.learn(self.place_of(position, keyword), shape)

    def unknown(self, reason: str) -> Unknown:
        """Return an Unknown that names this call."""
        return Unknown(f"{self.name}: {reason}")


class OnCall(Protocol[T]):
    """A function of a call: its result, or a predicate."""

    def __call__(self, call: Call, /) -> T:
        """Return the result of the call."""
