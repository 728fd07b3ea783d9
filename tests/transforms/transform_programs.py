"""Random small programs that transform functions and compose the transforms.

A program is grown from a base function outwards. Each step knows what its function takes and returns
(asked of `jax.eval_shape`), so most programs run; those that do not are no cases.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import ShapeDtypeStruct as Struct

PRELUDE = """\
import functools
from functools import partial
import jax
import jax.numpy as jnp
from jax import lax

def total(f):
    def run(*args):
        sums = jax.tree.map(lambda y: jnp.sum(y.astype(jnp.float32)), f(*args))
        return jax.tree.reduce(lambda a, b: a + b, sums)
    return run

def with_aux(f):
    def run(*args):
        return total(f)(*args), f(*args)
    return run
"""

#: A function before JAX has seen it: its expression, its arguments, and the lines it needs above.
Step = tuple[str, tuple[Any, ...], str]


@dataclass
class Stage:
    """A function of the program: the expression that names it, what it takes, and what it returns."""

    text: str
    args: tuple[Any, ...]
    result: Any


class Grower:
    """Grows one program from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def grow(self, steps: int) -> tuple[str, tuple[Any, ...]]:
        """Return the text of a program over ``x0``, ``x1``, … and what those are."""
        stage: Stage | None = None
        while stage is None:
            stage = self.settled(self.base())
        for _ in range(steps):
            stage = self.settled(self.pick(*TRANSFORMS)(self, stage)) or stage
        call = f"{stage.text}({', '.join(f'x{i}' for i in range(len(stage.args)))})"
        if self.chance(0.15):
            given = "".join(f", x{i}" for i in range(len(stage.args)))
            call = f"jax.eval_shape({stage.text}{given})"
        return "\n".join([PRELUDE, *self.lines, f"probe(0, {call})", ""]), stage.args

    def settled(self, step: Step | None) -> Stage | None:
        """Name a function and ask JAX what it returns; None where JAX raises."""
        if step is None:
            return None
        text, args, lines = step
        name = self.name("f")
        added = [*([lines] if lines else []), f"{name} = {text}"]
        names: dict[str, Any] = {}
        try:
            exec("\n".join([PRELUDE, *self.lines, *added]), names)
            result = jax.eval_shape(names[name], *args)
        except Exception:
            return None
        self.lines += added
        return Stage(name, args, result)

    # -- arguments -----------------------------------------------------------------------------

    def size(self) -> int:
        return self.random.randint(1, 5)

    def shape(self, low: int = 0, high: int = 3) -> tuple[int, ...]:
        return tuple(self.size() for _ in range(self.random.randint(low, high)))

    def struct(self, shape: tuple[int, ...] | None = None, dtype: str | None = None) -> Struct:
        chosen = dtype or self.pick("float32", "float32", "float32", "bfloat16", "int32")
        return Struct(self.shape() if shape is None else shape, jnp.dtype(chosen))

    def base(self) -> tuple[str, tuple[Any, ...], str]:
        """A function that is not transformed yet."""
        return self.pick(self.unary, self.binary, self.params, self.static, self.method, self.custom)()

    def unary(self) -> tuple[str, tuple[Any, ...], str]:
        x = self.struct(self.shape(1, 3))
        body = self.pick(
            "x * 2",
            "jnp.sin(x)",
            "x.sum()",
            "x.sum(0)",
            "(x, x.sum())",
            "{'b': x, 'a': x.mean()}",
            "x[0]",
            "jnp.stack([x, x], -1)",
            "x.reshape(-1)",
            "[x.T, x.shape[0] * 1.0]",
            "x.astype('float32').max(-1)",
            "jnp.zeros(x.shape[::-1])",
            "lax.scan(lambda c, v: (c + v, (v, c)), jnp.zeros_like(x[0]), x)",
            "lax.map(lambda v: v * 2.0, x)",
            "lax.fori_loop(0, 3, lambda i, c: c * 2, x)",
            "(x.shape[0], x)",
            "lax.cond(True, lambda v: v, lambda v: v * 2, x)",
            "jnp.concatenate([x, x])",
            "None",
            "(x, None)",
        )
        return f"lambda x: {body}", (x,), ""

    def binary(self) -> tuple[str, tuple[Any, ...], str]:
        b, t, d = self.size(), self.size(), self.size()
        dtype = self.pick("float32", "bfloat16")
        left, right, body = self.pick(
            ((b, d), (d, t), "x @ y"),
            ((b, d), (d,), "(x + y, y)"),
            ((b, d), (b, d), "{'s': x - y}"),
            ((d,), (t,), "jnp.outer(x, y)"),
            ((b, d), (b, t, d), "jnp.einsum('bd,btd->bt', x, y)"),
            ((b,), (), "x * y"),
            ((b, d), (t, d), "jnp.concatenate([x, y])"),
            ((b, t), (d,), "x"),
        )
        form = self.pick("lambda x, y: ", "lambda x, y=1.0: ")
        return form + body, (self.struct(left, dtype), self.struct(right, dtype)), ""

    def params(self) -> tuple[str, tuple[Any, ...], str]:
        """A function of a tree of parameters and a batch."""
        b, d, h = self.size(), self.size(), self.size()
        tree = {"w": self.struct((d, h), "float32"), "b": self.struct((h,), "float32")}
        loss = self.pick("jnp.mean(y ** 2)", "y", "(jnp.mean(y), y)", "{'loss': y.sum(), 'y': y}")
        name = self.name("net")
        lines = f"def {name}(p, x):\n    y = x @ p['w'] + p['b']\n    return {loss}"
        return name, (tree, self.struct((b, d), "float32")), lines

    def static(self) -> tuple[str, tuple[Any, ...], str]:
        """A jitted function with static arguments, which are then filled in."""
        name, n = self.name("sized"), self.size()
        option = self.pick(
            "static_argnums=1",
            "static_argnums=(1,)",
            "static_argnames='n'",
            "static_argnums=-1",
            "static_argnames=('n',)",
            "static_argnums=[1]",
            "static_argnames=['n'], donate_argnums=0",
            "static_argnums=(1,), keep_unused=True",
        )
        body = self.pick(
            "jnp.ones((n, 2)) * x.sum()",
            "jnp.zeros(n)",
            "(x, n * 2)",
            "x.reshape(-1)[:n]",
            "jnp.stack([x] * n)",
        )
        define = self.pick(
            f"@partial(jax.jit, {option})\ndef {name}(x, n):\n    return {body}",
            f"@jax.jit({option})\ndef {name}(x, n):\n    return {body}",
            f"{name} = jax.jit(lambda x, n: {body}, {option})",
            f"def {name}(x, n=2):\n    return {body}\n{name} = jax.jit({name}, {option})",
            f"def {name}(k, x, n):\n    return {body}\n{name} = jax.jit(partial({name}, 0), {option})",
        )
        use = self.pick(f"{name}(x, {n})", f"{name}(x, n={n})", f"{name}(x, n={n})", f"{name}(x=x, n={n})")
        text = self.pick(f"lambda x: {use}", f"partial({name}, n={n})")
        return text, (self.struct(self.shape(1, 2)),), define

    def method(self) -> tuple[str, tuple[Any, ...], str]:
        """A jitted method, whose ``self`` is static, or a bound method that is jitted."""
        name, n = self.name("Model"), self.size()
        decorator = self.pick(
            "@partial(jax.jit, static_argnums=0)",
            "@partial(jax.jit, static_argnums=(0,))",
            "",
            "@partial(jax.jit, static_argnames='self')",
            "@jax.jit(static_argnums=0)",
            "@functools.partial(jax.checkpoint, static_argnums=(0,))",
        )
        lines = (
            f"class {name}:\n    def __init__(self, n):\n        self.n = n\n    {decorator}\n"
            f"    def step(self, x, y=None):\n        return jnp.ones((self.n, *x.shape)) * x"
        )
        text = f"{name}({n}).step"
        return (f"jax.jit({text})" if self.chance(0.3) else text), (self.struct(self.shape(0, 2)),), lines

    def custom(self) -> tuple[str, tuple[Any, ...], str]:
        """`custom_vjp` and `custom_jvp`."""
        name, dtype = self.name("smooth"), "float32"
        body = self.pick(
            "jnp.sin(x) * y", "(x * y).sum()", "x * y[..., None]" if self.chance(0.1) else "x + y"
        )
        shape = self.shape(0, 2)
        if self.chance(0.5):
            static = self.chance(0.3)
            extra, decorator = (
                ("n, ", "@partial(jax.custom_vjp, nondiff_argnums=(0,))")
                if static
                else ("", "@jax.custom_vjp")
            )
            lines = (
                f"{decorator}\ndef {name}({extra}x, y):\n    return {body}\n"
                f"def {name}_fwd({extra}x, y):\n    return {name}({extra}x, y), (x, y)\n"
                f"def {name}_bwd({extra}saved, g):\n    return saved\n{name}.defvjp({name}_fwd, {name}_bwd)"
            )
            text = f"partial({name}, 3)" if static else name
        else:
            lines = (
                f"@jax.custom_jvp\ndef {name}(x, y):\n    return {body}\n"
                f"@{name}.defjvp\ndef {name}_jvp(primals, tangents):\n"
                f"    out = {name}(*primals)\n    return out, out"
            )
            text = name
        return text, (self.struct(shape, dtype), self.struct(shape, dtype)), lines


def _insert(tree: Any, axis: Any, size: int) -> Any:
    """Give every leaf the mapped axis; ``axis`` is a tree of axes as deep as the tree, or a prefix."""
    if axis is None:
        return tree
    if isinstance(tree, dict):
        return {k: _insert(v, axis[k] if isinstance(axis, dict) else axis, size) for k, v in tree.items()}
    if isinstance(tree, tuple | list):
        parts = axis if isinstance(axis, tuple | list) else (axis,) * len(tree)
        return type(tree)(_insert(v, a, size) for v, a in zip(tree, parts, strict=True))
    rank = len(tree.shape) + 1
    position = axis % rank
    return Struct((*tree.shape[:position], size, *tree.shape[position:]), tree.dtype)


def _least_rank(tree: Any) -> int:
    return min((len(leaf.shape) for leaf in jax.tree.leaves(tree)), default=0)


def _axis(grow: Grower, tree: Any, nothing: float = 0.2) -> Any:
    """A mapped axis for every leaf of a tree: a number, None, or a tree of them."""
    if grow.chance(nothing):
        return None
    if isinstance(tree, dict) and grow.chance(0.5):
        return {k: _axis(grow, v, nothing) for k, v in tree.items()}
    if isinstance(tree, tuple | list) and tree and grow.chance(0.4):
        return type(tree)(_axis(grow, v, nothing) for v in tree)
    rank = _least_rank(tree) + 1
    return grow.random.randint(-rank, rank - 1)


def vmap(grow: Grower, f: Stage) -> Step | None:
    size = grow.size()
    axes = tuple(_axis(grow, arg) for arg in f.args)
    if not any(a is not None for a in jax.tree.leaves(axes, is_leaf=lambda a: a is None)):
        return None
    if grow.chance(0.3):
        axes = (0,) * len(f.args)
    args = tuple(_insert(arg, axis, size) for arg, axis in zip(f.args, axes, strict=True))
    form: Any = (
        axes[0] if axes == (axes[0],) * len(axes) and isinstance(axes[0], int) and grow.chance(0.6) else axes
    )
    if isinstance(form, tuple) and grow.chance(0.1):
        form = list(form)
    out = _axis(grow, f.result, 0.03) if grow.chance(0.5) else 0
    options = []
    if form != 0 or grow.chance(0.2):
        options.append(f"in_axes={form}")
    if out != 0:
        options.append(f"out_axes={out}")
    if grow.chance(0.2):
        options.append(f"axis_name='{grow.name('axis')}'")
    if grow.chance(0.1):
        options.append(f"axis_size={size}")
    if grow.chance(0.2):
        return f"partial(jax.vmap, {', '.join(options) or 'in_axes=0'})({f.text})", args, ""
    if grow.chance(0.2):
        return f"jax.vmap({f.text}, {form}, {out})", args, ""
    return f"jax.vmap({', '.join([f.text, *options])})", args, ""


def vmap_keywords(grow: Grower, f: Stage) -> Step | None:
    """Keyword arguments are mapped over their leading axis."""
    size = grow.size()
    if len(f.args) != 1:
        return None
    extra = grow.struct()
    args = (_insert(f.args[0], 0, size), _insert(extra, 0, size))
    name = grow.name("keyed")
    lines = f"def {name}(x, *, y):\n    return {f.text}(x), y * 2"
    return f"lambda x, y: jax.vmap({name})(x, y=y)", args, lines


def _float(tree: Any) -> bool:
    leaves = jax.tree.leaves(tree)
    return bool(leaves) and all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in leaves)


def gradient(grow: Grower, f: Stage) -> Step | None:
    able = [i for i, arg in enumerate(f.args) if _float(arg)]
    if not able:
        return None
    which = grow.pick("grad", "value_and_grad")
    options = []
    wanted: Any = grow.random.choice(able)
    if grow.chance(0.4):
        wanted = tuple(grow.random.sample(able, grow.random.randint(1, len(able))))
    elif grow.chance(0.15):
        wanted -= len(f.args)
    if wanted != 0 or grow.chance(0.3):
        options.append(f"argnums={wanted}" if grow.chance(0.8) else f"{wanted}")
    inner = f"total({f.text})"
    if isinstance(f.result, Struct) and f.result.shape == () and _float(f.result) and grow.chance(0.8):
        inner = f.text
    if grow.chance(0.4):
        inner = f"with_aux({f.text})"
        options.append("has_aux=True")
    options.sort(key=lambda o: "=" in o)
    if not options and grow.chance(0.3):
        return f"jax.{which}(fun={inner})", f.args, ""
    return f"jax.{which}({', '.join([inner, *options])})", f.args, ""


def jit(grow: Grower, f: Stage) -> Step | None:
    option = grow.pick(
        "",
        "",
        "",
        ", donate_argnums=(0,)",
        ", inline=True",
        ", keep_unused=True",
        ", static_argnums=()",
        ", out_shardings=None",
        ", in_shardings=None",
        ", static_argnums=None",
        ", donate_argnames=()",
    )
    return f"jax.jit({f.text}{option})", f.args, ""


def checkpoint(grow: Grower, f: Stage) -> Step | None:
    option = grow.pick("", "", ", prevent_cse=False", ", policy=jax.checkpoint_policies.everything_saveable")
    name = grow.pick("checkpoint", "remat", "ad_checkpoint.checkpoint")
    return f"jax.{name}({f.text}{option})", f.args, ""


def tree_map(grow: Grower, f: Stage) -> Step | None:
    body = grow.pick("v * 2", "v[None]", "(v, v)", "jnp.sum(v)", "v.astype(jnp.float16)", "jnp.stack([v, v])")
    return (
        f"lambda *a: jax.{grow.pick('tree.map', 'tree_util.tree_map')}(lambda v: {body}, {f.text}(*a))",
        f.args,
        "",
    )


def vjp(grow: Grower, f: Stage) -> Step | None:
    if not all(map(_float, f.args)) or not _float(f.result):
        return None
    name = grow.name("pulled")
    back = grow.pick("out", "back(out)", "(out, back(out))", "back")
    if back == "back":
        lines = f"def {name}(*args):\n    return jax.vjp({f.text}, *args)[0]"
    elif grow.chance(0.25):
        lines = (
            f"def {name}(*args):\n    out, back, aux = jax.vjp(with_aux({f.text}), *args, has_aux=True)\n"
            f"    return {back}, aux"
        )
    else:
        lines = f"def {name}(*args):\n    out, back = jax.vjp({f.text}, *args)\n    return {back}"
    return name, f.args, lines


def jvp(grow: Grower, f: Stage) -> Step | None:
    if not all(map(_float, f.args)):
        return None
    return f"lambda *a: jax.jvp({f.text}, a, a)", f.args, ""


def jacobian(grow: Grower, f: Stage) -> Step | None:
    if not all(map(_float, f.args)) or not _float(f.result) or len(jax.tree.leaves(f.result)) > 3:
        return None
    return f"jax.{grow.pick('jacfwd', 'jacrev')}({f.text})", f.args, ""


def scan(grow: Grower, f: Stage) -> Step | None:
    """The function as the body of a scan over its first argument's leading axis."""
    size = grow.size()
    rest = ", ".join(f"y{i}" for i in range(1, len(f.args)))
    args = (_insert(f.args[0], 0, size), *f.args[1:])
    signature = f"y0, {rest}" if rest else "y0"
    inner = f"v, {rest}" if rest else "v"
    return f"lambda {signature}: lax.scan(lambda c, v: (c + 1, {f.text}({inner})), 0, y0)", args, ""


def loop(grow: Grower, f: Stage) -> Step | None:
    return (
        f"lambda *a: lax.scan(lambda c, _: (c, {f.text}(*a)), 0., None, length={grow.size()})[1]",
        f.args,
        "",
    )


def nested(grow: Grower, f: Stage) -> Step | None:
    """A decorated definition that calls the function."""
    decorator = grow.pick(
        "@jax.jit",
        "@partial(jax.jit, inline=True)",
        "@jax.checkpoint",
        "@jax.named_call",
        "@jax.jit()",
        "@partial(jax.checkpoint, prevent_cse=False)",
        "@jax.named_scope('here')",
        "@jax.profiler.annotate_function",
    )
    name = grow.name("g")
    given = ", ".join(f"y{i}" for i in range(len(f.args)))
    return name, f.args, f"{decorator}\ndef {name}({given}):\n    return {f.text}({given})"


def shapes(grow: Grower, f: Stage) -> Step | None:
    """`eval_shape` inside: arrays are made as it says."""
    return (
        f"lambda *a: jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), jax.eval_shape({f.text}, *a))",
        f.args,
        "",
    )


def jaxpr(grow: Grower, f: Stage) -> Step | None:
    return f"lambda *a: (jax.make_jaxpr({f.text}, return_shape=True)(*a)[1], {f.text}(*a))[1]", f.args, ""


def pmap(grow: Grower, f: Stage) -> Step | None:
    size = grow.size()
    axes: Any = grow.pick(0, 0, tuple(grow.pick(0, None) for _ in f.args))
    if isinstance(axes, tuple) and not any(a == 0 for a in axes):
        return None
    each = axes if isinstance(axes, tuple) else (axes,) * len(f.args)
    args = tuple(_insert(arg, axis, size) for arg, axis in zip(f.args, each, strict=True))
    option = grow.pick("", ", axis_name='i'", ", 'i'") + (f", in_axes={axes}" if axes != 0 else "")
    return f"jax.pmap({f.text}{option})", args, ""


def scalar(grow: Grower, f: Stage) -> Step | None:
    """A Python number as the last argument."""
    last = f.args[-1]
    if not isinstance(last, Struct) or last.shape != () or len(f.args) < 2:
        return None
    return f"lambda *a: {f.text}(*a, {grow.pick('2', '0.5')})", f.args[:-1], ""


def gradient_of_number(grow: Grower, f: Stage) -> Step | None:
    return (
        f"lambda *a: jax.value_and_grad(lambda s: s * total({f.text})(*a))({grow.pick('2.0', '0.5')})",
        f.args,
        "",
    )


def clear(grow: Grower, f: Stage) -> Step | None:
    """Wrappers that change nothing."""
    return (
        grow.pick(
            f"lambda *a: jax.block_until_ready({f.text}(*a))",
            f"partial({f.text})",
            f"lambda *a: lax.stop_gradient({f.text}(*a))",
            f"lambda *a: lax.optimization_barrier({f.text}(*a))",
        ),
        f.args,
        "",
    )


TRANSFORMS: tuple[Callable[[Grower, Stage], Step | None], ...] = (
    vmap, vmap, vmap, vmap_keywords, gradient, gradient, jit, checkpoint, tree_map, vjp, jvp,
    jacobian,   scan, loop, nested, shapes, jaxpr, pmap, clear, scalar, gradient_of_number,
)  # fmt: skip
