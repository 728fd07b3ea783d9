"""The arrays that a model's init creates, and the rules for their paths: both come from the user's code.

Only `initializer` beside this file imports it, never the worker of witnesses.
"""

from __future__ import annotations

import contextlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import PartitionSpec

from witness_functions import flax
from witness_protocol import Answer
from witness_steps import at, within
from witness_values import build

FLAGS = (("i", re.IGNORECASE), ("m", re.MULTILINE), ("s", re.DOTALL), ("x", re.VERBOSE))


def found(request: Answer) -> Answer:
    """Return the arrays and the rules, on the request's mesh; with an optimizer, its state for them too."""
    at("import")
    init = pkgutil.resolve_name(request["init"])
    rules = pkgutil.resolve_name(request["rules"]) if request["rules"] else None
    optimizer = pkgutil.resolve_name(request["optimizer"]) if request.get("optimizer") else None
    at("Mesh()")
    mesh = None if request["mesh"] is None else build(request["mesh"])
    arrays: list[Answer] = []
    state: list[Answer] = []
    with contextlib.ExitStack() as stack:
        if isinstance(mesh, jax.sharding.Mesh):
            stack.enter_context(mesh)  # Older code reads this; `jax.set_mesh` does not set it.
        if mesh is not None:
            stack.enter_context(within(mesh))
        at("init")

        def look() -> None:
            # A callable model is still a tree of arrays; a function is a leaf.
            leaves = jax.tree_util.tree_leaves(init)
            made = init() if callable(init) and len(leaves) == 1 and leaves[0] is init else init
            arrays[:] = arrays_of(made)
            if optimizer is not None:
                at("the optimizer")
                # An optax transformation, or a function that makes one.
                chosen = optimizer if hasattr(optimizer, "init") else optimizer()
                state[:] = arrays_of(chosen.init(params_of(made)))
                at("init")

        jax.eval_shape(look) if request["traced"] else look()
        at("rules")
        return {"arrays": arrays, "state": state, **table_of(rules, arrays, spec_of())}


def temporaries(request: Answer) -> int:
    """Return the bytes of temporaries on each device of a step that is compiled on the request's mesh.

    The step is a function of a mesh that returns what `jitted.lower` does, or what its `compile` does.
    """
    at("import")
    step = pkgutil.resolve_name(request["step"])
    at("Mesh()")
    mesh = build(request["mesh"])
    at("the step")
    made = step(mesh)
    compiled = made.compile() if hasattr(made, "compile") else made
    return int(compiled.memory_analysis().temp_size_in_bytes)


def params_of(tree: Any) -> Any:
    """Return what an optimizer takes: of a module of nnx its parameters, any other tree as it is."""
    kinds = {f"{cls.__module__}.{cls.__name__}" for cls in type(tree).__mro__}
    nnx = flax("nnx") if "flax.nnx.module.Module" in kinds else None
    return tree if nnx is None else nnx.state(tree, nnx.Param)


def arrays_of(tree: Any) -> list[Answer]:
    """Return path, shape, dtype and spec (or names) of each array of a tree; other leaves have no shape."""
    kinds = {f"{cls.__module__}.{cls.__name__}" for cls in type(tree).__mro__}
    if "flax.nnx.module.Module" in kinds:
        tree = flax("nnx").state(tree)  # Older modules are not pytrees themselves.
    flatten = jax.tree_util.tree_flatten_with_path
    leaves = flatten(tree, is_leaf=lambda leaf: box_of(leaf) is not None)[0]
    return [array([key_text(key) for key in keys], leaf) for keys, leaf in leaves]


def array(path: list[str], leaf: Any) -> Answer:
    """Describe one leaf; a box of Flax by its value and its names."""
    names, value = box_of(leaf) or (None, leaf)
    shape = getattr(value, "shape", None)
    sharding = None if isinstance(value, jax.core.Tracer) else getattr(value, "sharding", None)
    spec = getattr(sharding, "spec", None) if names is None else names
    return {
        "path": path,
        "shape": [int(n) for n in shape] if isinstance(shape, tuple) else None,
        "dtype": dtype_of(value),
        "spec": None if spec is None else spec_of()(spec),
        "box": None if value is leaf else type(leaf).__name__,
    }


def dtype_of(value: Any) -> str:
    """Return the dtype that JAX assigns to a value; the class of a value without one."""
    if isinstance(value, np.ndarray):
        return str(jax.dtypes.canonicalize_dtype(value.dtype))
    return str(value.dtype) if hasattr(value, "dtype") else type(value).__name__


def box_of(leaf: Any) -> tuple[Any, Any] | None:
    """Return the names and the value of a box of linen or a variable of nnx; None for anything else."""
    kinds = {cls.__name__ for cls in type(leaf).__mro__ if cls.__module__.startswith("flax.")}
    if "AxisMetadata" in kinds:
        return getattr(leaf, "names", None), getattr(leaf, "value", None)
    if kinds & {"Variable", "VariableState"}:
        data = leaf.get_metadata()
        named = [data[key] for key in ("out_sharding", "sharding", "sharding_names") if data.get(key)]
        value = leaf.get_raw_value() if hasattr(leaf, "get_raw_value") else leaf.value
        return (named[0] if named else None), value
    return None


def key_text(key: Any) -> str:
    """Return one key of a path as text: of a dict, an attribute, or a sequence."""
    return str(next((getattr(key, name) for name in ("key", "name", "idx") if hasattr(key, name)), key))


def table_of(rules: Any, arrays: list[Answer], spec: Callable[[Any], Answer]) -> Answer:
    """Return rules as pairs of a pattern and a spec, or each array's spec from a function of its path."""
    if rules is None:
        return {"rules": None}
    if callable(rules):
        due = [p for p in inspect.signature(rules).parameters.values() if p.default is p.empty]
        if due:
            return {"chosen": [spec(rules("/".join(one["path"]))) for one in arrays]}
        rules = rules()
    pairs = rules.items() if hasattr(rules, "items") else rules
    return {"rules": [[pattern_of(pattern), spec(given)] for pattern, given in pairs]}


def pattern_of(pattern: Any) -> Any:
    """Return a pattern as text, with its compilation flags in front; a tuple has one for each key."""
    if isinstance(pattern, (tuple, list)):
        return [pattern_of(part) for part in pattern]
    flags = "".join(letter for letter, flag in FLAGS if getattr(pattern, "flags", 0) & flag)
    return (f"(?{flags})" if flags else "") + str(getattr(pattern, "pattern", pattern))


def spec_of() -> Callable[[Any], Answer]:
    """Return a function that writes a spec, a sharding's spec, or names, as JSON; others as Python writes
    them.
    """
    kind, unconstrained = PartitionSpec, PartitionSpec.UNCONSTRAINED

    def spec(value: Any) -> Answer:
        value = getattr(value, "spec", value)
        if value is None or isinstance(value, (kind, tuple, list)):
            return {"entries": [entry(one) for one in value or ()]}
        return {"junk": repr(value)}

    def entry(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return [entry(one) for one in value]
        if value is unconstrained:
            return {"marker": "UNCONSTRAINED"}
        return value if value is None or isinstance(value, str) else {"junk": repr(value)}

    return spec
