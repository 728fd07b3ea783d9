"""`GeneratorBody`: the items of a generator whose body has run."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from shardlint.inference.domain.lattice import join
from shardlint.inference.domain.values import Value
from shardlint.laws.core.values import Unknown
from shardlint.model.uses import Use
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator


@dataclass(frozen=True, slots=True)
class GeneratorBody:
    """The items of a generator's body, and the uses that wait for them.

    ``known`` are all items, or None: then each is like ``any_one``, and there are infinitely many if
    ``endless``. ``uses`` are those recorded before each item, and after the last. ``reads`` are the variables
    that the body read, and ``key`` is the key of their values and the arguments then; None if that is
    unknown.
    """

    known: Sequence[Value] | None
    any_one: Value = Unknown("no item")
    endless: bool = False
    uses: Sequence[list[Use]] = ()
    reads: tuple[tuple[Any, str], ...] = ()
    key: Hashable = None

    @property
    def one(self) -> Value:
        """Return a value like any item."""
        return join(self.known) if self.known else self.any_one

    def release(self, interpreter: Evaluator, number: int | None = None) -> None:
        """Record the uses before the item of this number; without one, those of all or some remaining
        items."""
        if interpreter.is_silent:
            return
        first, last = (number, number + 1) if number is not None else (0, 1 if self.endless else None)
        for uses in self.uses[first:last]:
            interpreter.uses.extend(uses)
            uses.clear()
