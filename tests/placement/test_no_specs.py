"""What stands where `NamedSharding` wants a spec: JAX refuses it, with the exception that we think."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from support.checking import check

from shardlint.api import Linter, Settings, source_from_text
from shardlint.model.findings import Severity

NO_SPECS = [
    "{'x'}", "frozenset({'x'})", "set()", "{'x': 1}", "{}", "{'a': P('x')}", "{P('x')}", "['x']", "[]",
    "[P('x')]",
    "('x',)", "()", "(P('x'),)", "(P('x'), None)", "'x'", "None", "1", "1.5", "b'x'", "...", "mesh",
    "NamedSharding(mesh, P())",
]  # fmt: skip
HEAD = """\
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
"""


def errors(statements: str) -> list[str]:
    found = check(HEAD + statements)
    return [finding.code for finding in found if finding.severity is Severity.ERROR]


@pytest.mark.parametrize("written", NO_SPECS)
def test_what_is_no_spec_is_an_error(written: str) -> None:
    mesh = Mesh(np.array(jax.devices()), ("x",))
    with pytest.raises(Exception) as caught:
        NamedSharding(mesh, eval(written, {"P": P, "mesh": mesh, "NamedSharding": NamedSharding}))
    made = f"NamedSharding(mesh, {written})"
    assert errors(f"{made}\n") == ["SHL104"]
    # Handlers hide it that catch what is raised, and no others.
    for handled in ("AttributeError", "TypeError"):
        hidden = handled == type(caught.value).__name__
        assert errors(f"try:\n    {made}\nexcept {handled}:\n    pass\n") == ([] if hidden else ["SHL104"])


@pytest.mark.parametrize("written", ["P('x')", "P({}.get('x'))", "P(*{'x'})", "P(*['x'])", "P(tuple({'x'}))"])
def test_specs_made_of_containers_are_fine(written: str) -> None:
    mesh = Mesh(np.array(jax.devices()), ("x",))
    NamedSharding(mesh, eval(written, {"P": P}))
    assert errors(f"NamedSharding(mesh, {written})\n") == []


@pytest.mark.parametrize(
    ("written", "fixable"), [("('x',)", True), ("(P('x'),)", False), ("[P('x')]", False)]
)
def test_which_of_several_specs_is_meant_is_not_guessed(written: str, fixable: bool) -> None:
    source = source_from_text("program.py", f"{HEAD}NamedSharding(mesh, {written})\n")
    (finding,) = Linter(Settings(devices=8)).check_source(source)
    assert (finding.fix is not None) == fixable
