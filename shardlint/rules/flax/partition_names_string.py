"""# partition-names-string (SHL502)

## What it does
Finds partitioning names that are a bare string: `with_partitioning(init, "model")`.

## Why is this bad?
linen takes a string for a sequence of one-letter axes: `P("m", "o", "d", "e", "l")`. nnx takes it
for no partitioning and replicates the parameter. Parentheses do not help: `("model")` is a string,
`("model",)` a tuple.

## Example
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

zeros = nn.with_partitioning(nn.initializers.zeros_init(), "model")
layer = nn.Dense(16, bias_init=zeros)
variables = layer.init(jax.random.key(0), jnp.ones((4, 8)))
```

## Use instead
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

zeros = nn.with_partitioning(nn.initializers.zeros_init(), ("model",))
layer = nn.Dense(16, bias_init=zeros)
variables = layer.init(jax.random.key(0), jnp.ones((4, 8)))
```

## What JAX says
linen: nothing at `init`, `ValueError` where the names meet a mesh. nnx: nothing (JAX 0.10.2, Flax
0.12.8).

## References
- https://flax.readthedocs.io/en/latest/api_reference/flax.linen/spmd.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from shardlint.model.findings import Fix, Group
from shardlint.model.uses import ParameterUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import array_text, names_text

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import FixRequest


def check(use: ParameterUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a string where a tuple of names is meant."""
    if not isinstance(use.names, str):
        return
    name = use.names.strip("\"'")
    effect = "is ignored" if use.library.endswith("nnx") else f"means one axis a letter, ({names_text(name)})"
    yield Problem(
        f'the names of {array_text(use)} are the string "{name}", which {effect}; write ("{name}",)',
        use.names_place or use.place,
    )


def fix(request: FixRequest) -> Fix:
    """Return the fix that makes a tuple of a parameter's names that are one string."""
    from shardlint.fixes.rewrites.fix_request import SAFE, UNSAFE, in_place_of, literal
    from shardlint.fixes.syntax.program_tree import CannotFix

    node, use = request.node(), request.use
    if not isinstance(literal(node), str):
        raise CannotFix
    # nnx ignores a string, and will shard by the tuple; linen can make nothing of the string.
    nnx = isinstance(use, ParameterUse) and use.library.endswith("nnx")
    text = f"({request.tree.written(node)},)"
    return request.fix(f"write {text}", UNSAFE if nnx else SAFE, {node: in_place_of(text)})


RULE = Rule(
    code="SHL502",
    name="partition-names-string",
    summary="Partitioning names are a bare string",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(ParameterUse,),
    explains=("SHL103", "SHL201", "SHL501"),
    check=check,
    fix=fix,
)
