"""A call as overlays see it: bound arguments, its place, and the evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol, TypeVar

from shardlint.inference.domain.values import Value
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator


T = TypeVar("T", covariant=True)


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
