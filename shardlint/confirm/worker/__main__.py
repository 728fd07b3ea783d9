"""Run witnesses with the real JAX: JSON lines in, JSON lines out.

Self-contained on purpose: any interpreter with jax (0.4.35 or newer) runs this folder as
``python -I worker``, with ``JAX_PLATFORMS=cpu`` and the number of fake devices in ``XLA_FLAGS``.

The first line out says whether jax could be imported. Then each request is answered by one line: ``ok``,
the exception's class and bases, the ``stage`` that raised, and for accepted calls the shape, spec and
replication of the result. ``unsupported`` says that this JAX or Flax cannot run the request at all.

A request is data. It selects one of the recipes here and functions of a closed list (`witness_names`), by
keys; what these are called in JAX is written here. Nothing else can be reached by it, and no text of it is
executed. What runs a program of the user's own is another program: `initializer` beside this one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from witness_protocol import Answer, message_of, serve


def begin() -> Callable[[str], Answer]:
    """Import jax, and return the function that answers a request."""
    from shape_questions import shapes
    from witness_names import reference
    from witness_placements import placement
    from witness_recipes import arity, call, mapped, traced
    from witness_steps import STAGE, Unsupported, at

    kinds: dict[str, Callable[[dict[str, Any]], Any]] = {
        "placement": placement,
        "call": call,
        "traced": traced,
        "mapped": mapped,
        "arity": arity,
        "reference": reference,
    }

    answers: dict[str, Callable[[dict[str, Any]], Answer]] = {
        **{kind: _describing(recipe) for kind, recipe in kinds.items()},
        "shapes": shapes,
    }

    def run(line: str) -> Answer:
        """Run one witness and return the outcome."""
        at("")
        try:
            request = json.loads(line)
            kind = request.get("kind") if isinstance(request, dict) else None
            if not isinstance(kind, str) or kind not in answers:
                raise Unsupported("this is no request")
            return {"ok": True, **answers[kind](request)}
        except Unsupported as reason:
            return {"unsupported": str(reason)}
        except Exception as error:
            return {
                "ok": False,
                "exception": type(error).__name__,
                "bases": [cls.__name__ for cls in type(error).__mro__[1:-1]],
                "stage": STAGE[0],
                "message": message_of(error),
            }

    return run


def _describing(recipe: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Answer]:
    """Return the recipe of a witness, with its result described."""

    def run(request: dict[str, Any]) -> Answer:
        from witness_steps import forbidding

        with forbidding(request.get("no_collectives")):
            return described(recipe(request))

    return run


def described(result: Any) -> Answer:
    """Describe an accepted call's result by its shape, spec and replication, as far as it has them."""
    from jax.sharding import PartitionSpec

    sharding = getattr(result, "sharding", result)
    shape = getattr(result, "shape", None)
    spec = getattr(sharding, "spec", None)
    return {
        "shape": [int(n) for n in shape] if isinstance(shape, tuple) else None,
        "spec": list(spec) if isinstance(spec, PartitionSpec) else None,
        "replicated": bool(getattr(sharding, "is_fully_replicated", False)),
        "devices": len(getattr(sharding, "device_set", ())),
    }


if __name__ == "__main__":
    serve(begin)
