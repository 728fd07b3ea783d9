"""What the rules of Flax's logical axes say, and how gravely."""

from __future__ import annotations

import pytest
from flax_calls import run_program
from test_logical_programs import HEADER

from shardlint.model.findings import Severity
from shardlint.rules import RuleSettings, judge

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

SAYS = {
    "a misspelled name": (
        """
with jax.set_mesh(auto), nn.logical_axis_rules((("batch", "x"),)):
    jax.jit(lambda a: nn.with_logical_constraint(a, ("bacth", None)))(x)
""",
        "SHL505", WARNING,
        '"bacth" has no logical axis rule, so its dimension is silently not sharded; did you mean "batch"?',
    ),
    "a misspelled name that shares little": (
        """
with jax.set_mesh(auto), nn.logical_axis_rules((("mlp", "x"),)):
    jax.jit(lambda a: nn.with_logical_constraint(a, ("mpl", None)))(x)
""",
        "SHL505", WARNING,
        '"mpl" has no logical axis rule, so its dimension is silently not sharded; did you mean "mlp"?',
    ),
    "a name that is to have no axis": (
        """
with jax.set_mesh(auto), nn.logical_axis_rules((("heads", "x"),)):
    jax.jit(lambda a: nn.with_logical_constraint(a, ("kv_heads", None)))(x)
""",
        "SHL505", INFO,
        '"kv_heads" has no logical axis rule, so its dimension is silently not sharded; '
        'if that is meant, a rule ("kv_heads", None) says so',
    ),
    "a mesh axis among logical names": (
        """
with jax.set_mesh(auto), nn.logical_axis_rules((("mlp", "x"),)):
    jax.jit(lambda a: nn.with_logical_constraint(a, ("x", None)))(x)
""",
        "SHL505", WARNING,
        '"x" has no logical axis rule, so its dimension is silently not sharded; '
        '"x" is a mesh axis, and here stands a logical name: the rules are for "mlp"',
    ),
    "a mesh axis that switches a constraint off": (
        """
with jax.set_mesh(auto), nn.logical_axis_rules((("batch", "x"),)):
    off = nn.spmd.RulesFallback.NO_CONSTRAINT
    jax.jit(lambda a: nn.with_logical_constraint(a, ("batch", "y"), fallback=off))(x)
""",
        "SHL505", WARNING,
        'no rule gives "y" a mesh axis, and NO_CONSTRAINT then drops the whole constraint, "x" too; '
        '"y" is a mesh axis, and here stands a logical name: the rules are for "batch"',
    ),
    "a name that switches a constraint off": (
        """
with jax.set_mesh(auto), nn.logical_axis_rules((("batch", "x"),)):
    off = nn.spmd.RulesFallback.NO_CONSTRAINT
    jax.jit(lambda a: nn.with_logical_constraint(a, ("batch", "time"), fallback=off))(x)
""",
        "SHL505", WARNING,
        'no rule gives "time" a mesh axis, and NO_CONSTRAINT then drops the whole constraint, "x" too; '
        'give the name a rule (("time", None) will do)',
    ),
    "a name that is no mesh axis": (
        """
with jax.set_mesh(auto), nnx.logical_axis_rules((("embed", "x"),)):
    nnx.Param(x, out_sharding=("embed", "mlp"))
""",
        "SHL505", ERROR,
        '"mlp" has no logical axis rule, and the mesh has "x", "y" only; the rules are for "embed"',
    ),
    "a rule for another mesh": (
        """
with jax.set_mesh(auto), nn.logical_axis_rules((("embed", "fsdp"),)):
    jax.jit(lambda a: nn.with_logical_constraint(a, ("embed", None)))(x)
""",
        "SHL506", ERROR,
        'the rules map "embed" to "fsdp", which is no axis of the mesh; '
        "name one of its axes in the rule, or None",
    ),
    "one pair alone": (
        'nn.logical_to_mesh_axes(("embed",), ("embed", "x"))',
        "SHL507", ERROR,
        '"embed" is no logical axis rule; write each as a pair, (name, mesh axes)',
    ),
    "activations that share an axis": (
        """
with jax.set_mesh(auto), nn.logical_axis_rules((("batch", "x"), ("embed", "x"))):
    jax.jit(lambda a: nn.with_logical_constraint(a, ("batch", "embed")))(x)
""",
        "SHL508", INFO,
        '"embed" would lie along "x", where another dimension lies already, so this one is silently not '
        "sharded; give one of the two another mesh axis, or None",
    ),
    "one name twice": (
        'nn.logical_to_mesh_axes(("embed", "embed"), (("embed", "x"),))',
        "SHL508", ERROR,
        'two dimensions are both named "embed"; each needs a name of its own',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "code", "severity", "message"), SAYS.values(), ids=SAYS)
def test_message(body: str, code: str, severity: Severity, message: str) -> None:
    _, uses = run_program(HEADER + body)
    found = judge(uses, RuleSettings())
    assert [(one.code, one.severity, one.message) for one in found] == [(code, severity, message)]
