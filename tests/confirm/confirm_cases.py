"""Findings built by hand for the tests of confirmation."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from shardlint.laws.core.values import AxisType, Junk, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected, Verdict
from shardlint.laws.core.witness_data import constant_data
from shardlint.model.findings import Finding, Severity
from shardlint.model.spans import Span
from shardlint.model.uses import (
    ApiReference,
    ArityUse,
    CollectiveUse,
    Environment,
    MeshUse,
    ParameterUse,
    Placement,
    Use,
)

HERE = Span("train.py", 3, 5, 3, 9)
MESH = Mesh(("data", "model"), (2, 4), (AxisType.AUTO, AxisType.AUTO))
EXPLICIT = replace(MESH, types=(AxisType.EXPLICIT,) * 2)


def mesh(data: Any, model: Any) -> Mesh:
    return Mesh(("data", "model"), (data, model), (AxisType.AUTO, AxisType.AUTO))


def rejected(cause: Cause, exception: str = "ValueError", stage: str = "", **details: Any) -> Rejected:
    return Rejected(cause, exception, stage, **details)


def finding(use: Use | None, severity: Severity = Severity.ERROR, **fields: Any) -> Finding:
    given = {"code": "SHL202", "name": "test", "message": "a mistake", "span": HERE, **fields}
    return Finding(severity=severity, use=use, **given)


def placement(
    api: Api,
    spec: Spec | Junk | Unknown,
    shape: Any,
    verdict: Verdict,
    mesh: Mesh | Unknown | None = MESH,
    context: Mesh | Unknown | None = None,
    **fields: Any,
) -> Finding:
    use = Placement(
        place=HERE,
        environment=Environment(context_mesh=context),
        api=api,
        mesh=mesh,
        spec=spec,
        shape=shape,
        verdict=verdict,
        **fields,
    )
    severity = Severity.WARNING if isinstance(verdict, Accepted) else Severity.ERROR
    return finding(use, severity)


def indivisible(size: Any = 10, mesh: Mesh = MESH) -> Finding:
    """An array of shape (8, size) whose second dimension "model" does not divide."""
    verdict = rejected(Cause.INDIVISIBLE, "IndivisibleError", dimension=1)
    return placement(Api.DEVICE_PUT, Spec((None, "model")), (8, size), verdict, mesh)


def arity(api: Api, given: int, due: int) -> Finding:
    verdict = rejected(Cause.ARITY)
    return finding(
        ArityUse(
            place=HERE,
            environment=Environment(),
            api=api,
            function="f",
            given=given,
            due=due,
            verdict=verdict,
        )
    )


def collective(
    function: str, exception: str, bound: Any = (), axes: Any = ("expert",), **fields: Any
) -> Finding:
    given = {"verdict": rejected(Cause.UNBOUND_AXIS, exception), **fields}
    environment = Environment(bound_axes=bound)
    return finding(CollectiveUse(place=HERE, environment=environment, function=function, axes=axes, **given))


def mesh_use(function: str, shape: Any, names: Any, devices: Any, verdict: Verdict) -> Finding:
    return finding(
        MeshUse(
            place=HERE,
            environment=Environment(),
            function=function,
            shape=shape,
            names=names,
            devices=devices,
            verdict=verdict,
        )
    )


def parameter(
    library: str, names: Any, shape: Any, verdict: Verdict, mesh: Mesh | Unknown | None = MESH
) -> Finding:
    use = ParameterUse(
        place=HERE,
        environment=Environment(),
        library=library,
        owner="Dense",
        owner_place=HERE,
        name="kernel",
        names=names,
        shape=shape,
        verdict=verdict,
        mesh=mesh,
    )
    return finding(use, Severity.WARNING)


def reference(name: str, verdict: Verdict) -> Finding:
    return finding(ApiReference(place=HERE, environment=Environment(), name=name, verdict=verdict))


_OPERATORS = {ast.Add: "2 +", ast.Mult: "2 *", ast.MatMult: "2 @"}
_HOMES = {"jnp": "jax.numpy", "lax": "jax.lax", "np": "numpy"}


def data(text: str) -> Any:
    """Return what an expression says as the data of a witness; ``x0``, ``x1``, … are operands."""
    return _data(ast.parse(text, mode="eval").body)


def _data(node: ast.expr) -> Any:
    match node:
        case ast.Constant():
            return constant_data(node.value)
        case ast.Name() if node.id[1:].isdigit():
            return ("operand", int(node.id[1:]))
        case ast.Tuple():
            return ("tuple", *map(_data, node.elts))
        case ast.List():
            return ("list", *map(_data, node.elts))
        case ast.BinOp():
            return ("call", _OPERATORS[type(node.op)], (_data(node.left), _data(node.right)), ())
        case ast.Call():
            args = tuple(map(_data, node.args))
            if ast.unparse(node.func) == "P":
                return ("spec", args, (), ())
            home, _, rest = ast.unparse(node.func).partition(".")
            kwargs = tuple((str(keyword.arg), _data(keyword.value)) for keyword in node.keywords)
            return ("call", f"{_HOMES.get(home, home)}.{rest}", args, kwargs)
    raise ValueError(ast.unparse(node))
