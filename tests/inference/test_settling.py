"""Uses that stay between two evaluations of a program are settled anew where what they name has moved."""

from __future__ import annotations

import libcst as cst

from shardlint.inference.recording.place_resolution import Settling
from shardlint.inference.syntax.units import NodePlace, Unit
from shardlint.model.spans import Span
from shardlint.model.uses import Environment, Fact, NameUse


def node_of(unit: Unit) -> cst.CSTNode:
    line = unit.body[-1]
    assert isinstance(line, cst.SimpleStatementLine)
    assert isinstance(line.body[0], cst.Expr)
    return line.body[0].value


def test_what_has_moved_is_settled_anew() -> None:
    unit, other = (Unit("a.py", None, text, 1, indented=False) for text in ("f(x)\n", "g(y)\n"))
    fact = Fact("it is called here", NodePlace(other, node_of(other)))
    place = NodePlace(unit, node_of(unit))
    use = NameUse(place=place, environment=Environment(), names=("a", "b"), logical=False, facts=(fact,))
    settling = Settling()

    def lines() -> list[int]:
        (settled,) = settling.settled([use])
        assert isinstance(settled, NameUse)
        places = (settled.place, settled.facts[0].place)
        assert all(isinstance(one, Span) for one in places)
        return [one.line for one in places if isinstance(one, Span)]

    assert lines() == [1, 1]
    assert settling.settled([use])[0] is settling.settled([use])[0]
    unit.move_to(4)
    assert lines() == [4, 1]
    other.move_to(9)
    assert lines() == [4, 9]
    # The statement that stays keeps its node.
    unit.rewrite("h()\nf(x)\n")
    assert unit.body
    assert lines() == [5, 9]
    assert settling.settled([]) == []
    assert lines() == [5, 9]
