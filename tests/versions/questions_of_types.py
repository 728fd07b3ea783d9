"""Questions about shardings in types: carries of loops, and programs of one primitive."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import older_jax
import real_jax
from questions import Question, compare, law_at, raised
from spec_texts import spec_text

from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.values import AxisType, Mesh, Spec
from shardlint.laws.core.verdicts import Rejected, Undecided
from shardlint.laws.transforms.loop_carries import Carried, judge_carry
from shardlint.laws.transforms.varying import CONSTANT, Variation
from shardlint.laws.versions import Release

jax, jnp, np = older_jax.jax, older_jax.jnp, older_jax.np
from jax import lax  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

LOOPS: dict[str, Callable[[Any, Any], Any]] = {
    "scan": lambda before, after: lax.scan(lambda c, _: (after, None), before, None, length=2),
    "fori_loop": lambda before, after: lax.fori_loop(0, 2, lambda i, c: after, before),
    "while_loop": lambda before, after: lax.while_loop(lambda c: True, lambda c: after, before),
    "cond": lambda before, after: lax.cond(True, lambda: before, lambda: after),
    "switch": lambda before, after: lax.switch(0, [lambda: before, lambda: after]),
}
SPECS = [(), ("x",), (None, "x"), ("x", None), (("x", "y"),), (("y", "x"), None)]
AXES: list[frozenset[str]] = [frozenset(), frozenset("x"), frozenset("y"), frozenset("xy")]
EXPLICIT = Mesh(("x", "y"), (2, 2), (AxisType.EXPLICIT,) * 2)
AUTO = EXPLICIT.with_types(dict.fromkeys("xy", AxisType.AUTO))


def carries() -> Iterator[Question]:
    """Yield loops and branches whose two values differ in sharding, or in what they vary over."""
    for loop, one, other in itertools.product(LOOPS, SPECS, SPECS):

        def ask(loop: str = loop, one: Any = one, other: Any = other) -> str:
            if not hasattr(jax.sharding, "reshard") or not older_jax.CONTEXT:
                return "- no reshard"

            def call(x: Any) -> Any:
                before, after = (jax.sharding.reshard(x, P(*spec)) for spec in (one, other))
                return LOOPS[loop](before, after)

            with jax.set_mesh(real_jax.real_mesh(EXPLICIT)):
                return raised(lambda: jax.eval_shape(call, jax.ShapeDtypeStruct((8, 8), np.float32)))

        def judge(
            answer: str, release: Release, one: Any = one, other: Any = other
        ) -> tuple[str, str] | None:
            kinds = [Carried((8, 8), CONSTANT, TypeSharding(EXPLICIT, Spec(spec))) for spec in (one, other)]
            return compare(answer, law_at(release, judge_carry(*kinds), None))

        text = f"{loop} {spec_text(Spec(one))} then {spec_text(Spec(other))}"
        yield Question(f"{loop}|explicit", text, ask, judge)
    for loop, one, other in itertools.product(LOOPS, AXES, AXES):

        def ask_varying(loop: str = loop, one: Any = one, other: Any = other) -> str:
            if not hasattr(lax, "pcast"):
                return "- no pcast"

            def call() -> Any:
                before, after = (
                    lax.pcast(jnp.ones(4), tuple(sorted(axes)), to="varying") if axes else jnp.ones(4)
                    for axes in (one, other)
                )
                LOOPS[loop](before, after)
                return jnp.ones(())

            mapped = jax.shard_map(call, mesh=real_jax.real_mesh(AUTO), in_specs=(), out_specs=P())
            return raised(lambda: jax.eval_shape(mapped))

        def judge_varying(answer: str, release: Release, one: Any = one, other: Any = other) -> Any:
            before, after = (Carried((4,), Variation(axes, axes)) for axes in (one, other))
            return compare(answer, law_at(release, judge_carry(before, after), None))

        text = f"{loop} {sorted(one)} then {sorted(other)}"
        yield Question(f"{loop}|varying", text, ask_varying, judge_varying)


#: How many programs of a primitive are asked, by mode.
CASES = {"plain": 36, "sets": 18, "inside": 18}


def propagations() -> Iterator[Question]:
    """Yield the random programs of `tests/propagation`; none where JAX has no such types yet."""
    tools = _tools()
    if tools is None:
        return
    for kind, mode in itertools.product(tools["kinds"], CASES):
        for case in range(CASES[mode]):
            name = f"{kind} {mode} {SEED} {case}"
            yield Question(f"{kind}|{mode}", name, *_of_propagation(tools, kind, mode, name))


SEED = 29


@cache
def _tools() -> dict[str, Any] | None:
    try:
        import comparing
        import drawing
        import programs_of_primitives
    except ImportError:
        return None
    lacks = not hasattr(jax.sharding, "use_abstract_mesh") or not hasattr(jax, "typeof")
    if lacks:
        return None
    return {
        "draw": drawing.Draw,
        "kinds": programs_of_primitives.KINDS,
        "ask": comparing.ask_jax,
        "law": comparing.ask_law,
    }


def _of_propagation(tools: dict[str, Any], kind: str, mode: str, name: str) -> Any:
    @cache
    def told() -> tuple[Any, Any]:
        draw = tools["draw"](random.Random(name), mode)
        program = tools["kinds"][kind](draw)
        return tools["ask"](draw, program), program

    def ask() -> str:
        try:
            truth, _ = told()
        except Exception as error:
            return f"- {type(error).__name__} around"
        return f"{_outcome(truth)} ={_operands(truth)}"

    def judge(answer: str, release: Release) -> tuple[str, str] | None:
        said, _, operands = answer.rpartition(" =")
        try:
            truth, program = told()
        except Exception as error:
            return "not asked here", type(error).__name__
        if operands != _operands(truth):
            return "not asked here", "the operands have other types in this JAX"
        verdict = tools["law"](truth, program)
        if isinstance(verdict, Rejected | Undecided):
            return compare(said, law_at(release, verdict, None))
        claimed = verdict if isinstance(verdict, tuple) else None
        count = said.count(";") + 1
        types = claimed if claimed is not None else (verdict,) * count
        return compare(said, ";".join(_type_text(one, truth.context) for one in types) or "none")

    return ask, judge


def _outcome(truth: Any) -> str:
    if truth.exception:
        return str(truth.exception)
    return f"ok {';'.join(_type_text(one, truth.context) for one in truth.results) or 'none'}"


def _type_text(held: TypeSharding, context: Mesh | None) -> str:
    where = "" if held.mesh == context else "!" if held.mesh is None else f"!{_digest(str(held.mesh))}"
    return f"P({spec_text(held.spec, trim=False)}){where}"


def _operands(truth: Any) -> str:
    return _digest("; ".join([str(truth.context), *map(str, truth.operands)]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:3]
