"""Programs that Hypothesis makes: they parse, and mix all of Python with shardings in ways nobody writes."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = st.sampled_from(("x", "y", "z", "mesh", "spec", "f", "g", "C", "D", "self", "params", "n"))
#: What programs begin with; half of the names are bound to something that shardings are about.
HEAD = """\
import dataclasses, functools, itertools, jax, jax.numpy as jnp, numpy as np
from flax import linen as nn, nnx
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("data", "model"))
spec = P("data", None)
x = jnp.ones((8, 6))
n = 3
"""
_APIS = tuple(
    """
    jax.device_put jax.jit jax.shard_map jax.set_mesh jax.vmap lax.psum lax.scan lax.cond NamedSharding P Mesh
    lax.with_sharding_constraint jax.make_mesh jnp.einsum jnp.reshape jnp.concatenate np.array jax.tree.map
    functools.partial nn.with_partitioning nn.Dense nnx.Linear dataclasses.dataclass dataclasses.replace
    jax.eval_shape jax.random.normal len range zip dict sorted map getattr setattr isinstance print type super
    iter next property itertools.chain enumerate reversed min sum any tuple list set
    """.split()
)
_KEYWORDS = ("mesh", "in_specs", "out_specs", "in_shardings", "axis_name", "axis", "shape", "key", "default")
_CONSTANTS = tuple(
    "0 1 2 8 -1 2.5 1j None True ... 'data' 'model' 'ij,jk->ik' '' b'a' (8,6) {} [] ()".split()
)
_ATTRIBUTES = (
    "shape",
    "T",
    "at",
    "spec",
    "mesh",
    "axis_names",
    "size",
    "items",
    "append",
    "get",
    "x",
    "update",
)
_OPERATORS = tuple("+ - * / // % @ ** << | & == < in is and or".split())

_SHAPES = st.sampled_from(("(8, 6)", "(n, 4)", "(8,)", "x.shape", "()", "(2, 4, 6)"))
_SPECS = st.sampled_from(("P('data')", "P(None, 'model')", "P('model', 'data')", "P('rows')", "spec", "P()"))
#: Uses, right and wrong.
_PLACED = st.tuples(_SHAPES, _SPECS).map(
    "jax.device_put(jnp.ones({0[0]}), NamedSharding(mesh, {0[1]}))".format
)
_MAPPED = st.tuples(_SPECS, _SPECS, _SHAPES).map(
    "jax.shard_map(lambda x: lax.psum(x, 'data'), mesh=mesh, "
    "in_specs={0[0]}, out_specs={0[1]})(jnp.ones({0[2]}))".format
)
_ATOMS = st.one_of(NAMES, st.sampled_from(_CONSTANTS), st.sampled_from(_APIS))


def _arguments(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    given = st.lists(st.tuples(st.sampled_from(("", "", "", "*")), inner).map("".join), max_size=3)
    named = st.lists(st.tuples(st.sampled_from(_KEYWORDS), inner), max_size=2, unique_by=lambda pair: pair[0])
    both = st.tuples(given, named.map(lambda pairs: [f"{name}={value}" for name, value in pairs]))
    return both.map(lambda lists: ", ".join((*lists[0], *lists[1])))


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    attribute = st.tuples(inner, st.sampled_from(_ATTRIBUTES)).map("({0[0]}).{0[1]}".format)
    loop = st.tuples(inner, NAMES, inner, inner)
    return st.one_of(
        st.tuples(st.one_of(st.sampled_from(_APIS), attribute), _arguments(inner)).map(
            "{0[0]}({0[1]})".format
        ),
        st.tuples(inner, _arguments(inner)).map("({0[0]})({0[1]})".format),
        attribute,
        st.tuples(inner, inner).map("({0[0]})[{0[1]}]".format),
        st.tuples(inner, inner, inner).map("({0[0]})[{0[1]}:{0[2]}, None]".format),
        st.tuples(inner, st.sampled_from(_OPERATORS), inner).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(st.sampled_from(("not ", "-", "~")), inner).map("({0[0]}{0[1]})".format),
        st.lists(inner, max_size=3).map(lambda items: f"({', '.join(items)},)" if items else "()"),
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(inner, inner), max_size=2).map(
            lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        ),
        st.tuples(inner, inner, inner).map("({0[0]} if {0[1]} else {0[2]})".format),
        st.tuples(NAMES, inner).map("(lambda {0[0]}: {0[1]})".format),
        st.tuples(NAMES, inner).map("({0[0]} := {0[1]})".format),
        loop.map("[{0[0]} for {0[1]} in ({0[2]}) if {0[3]}]".format),
        loop.map("{{{0[0]}: {0[3]} for {0[1]} in ({0[2]})}}".format),
        inner.map("f'a{{{0}!r}}'".format),
    )


_EXPRESSIONS = st.recursive(_ATOMS, _larger, max_leaves=8)


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """An expression; drawn by a function, or Hypothesis would write down all that it may be made of."""
    return draw(_EXPRESSIONS)


EXPRESSIONS = expressions()
#: What can be assigned to.
_TARGETS = st.one_of(
    NAMES,
    st.tuples(NAMES, NAMES).map(", ".join),
    st.tuples(NAMES, st.sampled_from(_ATTRIBUTES)).map(".".join),
    st.tuples(NAMES, EXPRESSIONS).map("{0[0]}[{0[1]}]".format),
    st.tuples(NAMES, NAMES).map("{0[0]}, *{0[1]}".format),
)
_SIMPLE = st.one_of(
    st.tuples(_TARGETS, EXPRESSIONS).map(" = ".join),
    st.tuples(NAMES, st.sampled_from(("+", "*", "|", "@")), EXPRESSIONS).map("{0[0]} {0[1]}= {0[2]}".format),
    st.tuples(NAMES, EXPRESSIONS, EXPRESSIONS).map("{0[0]}: {0[1]} = {0[2]}".format),
    EXPRESSIONS,
    st.tuples(NAMES, st.one_of(_PLACED, _MAPPED)).map(" = ".join),
    EXPRESSIONS.map("assert {}".format),
    NAMES.map("del {}".format),
    st.sampled_from(("pass", "raise ValueError", "import jax", "from jax import *")),
)
#: What stands in a body alone, by where it may stand.
_LEAVES = {
    "function": st.one_of(EXPRESSIONS.map("return {}".format), EXPRESSIONS.map("yield {}".format)),
    "loop": st.sampled_from(("break", "continue")),
}


def _block(lines: list[str]) -> str:
    return "\n".join("    " + line for text in lines for line in text.split("\n"))


@st.composite
def _compound(draw: st.DrawFn, depth: int, places: tuple[str, ...]) -> str:
    """A statement with a body."""
    kind = draw(st.sampled_from(("if", "for", "while", "try", "with", "def", "class", "match")))
    inner = {"def": ("function",), "class": (), "for": (*places, "loop"), "while": (*places, "loop")}
    body = _block(draw(bodies(depth - 1, inner.get(kind, places))))
    value, name = draw(EXPRESSIONS), draw(NAMES)
    if kind == "if":
        return f"if {value}:\n{body}\nelse:\n{_block(draw(bodies(depth - 1, places)))}"
    if kind == "for":
        return f"for {draw(_TARGETS)} in {value}:\n{body}"
    if kind == "try":
        return f"try:\n{body}\nexcept (ValueError, TypeError) as {name}:\n    pass\nfinally:\n    {name} = 1"
    if kind == "with":
        return f"with {value} as {name}:\n{body}"
    if kind == "match":
        pattern = draw(
            st.sampled_from(("[x, *y]", "{'data': x}", "P()", "1 | 2", "_", "(x, y) if x", "C(x=1)"))
        )
        return f"match {value}:\n    case {pattern}:\n{_block(body.split(chr(10)))}"
    decorator = draw(st.one_of(st.just(""), st.sampled_from(_APIS), EXPRESSIONS))
    above = f"@{decorator}\n" if decorator else ""
    if kind == "def":
        signature = draw(st.sampled_from(("", "x", "x, y=mesh", "*x, n=8", "self", "self, x", "x, /, **y")))
        return f"{above}def {name}({signature}):\n{body}"
    if kind == "class":
        base = draw(st.sampled_from(("", "(nn.Module)", "(nnx.Module)", "(C)", "(dict)", "(object)")))
        return f"{above}class {name}{base}:\n{body}"
    return f"while {value}:\n{body}"


@st.composite
def bodies(draw: st.DrawFn, depth: int, places: tuple[str, ...] = ()) -> list[str]:
    """Some statements, of which the last may leave what they stand in."""
    one = st.one_of(_SIMPLE, _compound(depth, places)) if depth else _SIMPLE
    found = draw(st.lists(one, min_size=1, max_size=4))
    if bool(places) and draw(st.booleans()):
        found.append(draw(_LEAVES[draw(st.sampled_from(places))]))
    return found


#: Whole programs.
PROGRAMS = bodies(3).map(lambda lines: HEAD + "\n".join(lines) + "\n")
