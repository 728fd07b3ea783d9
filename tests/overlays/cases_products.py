"""Random calls of contractions, linear algebra and functions that pick elements."""

from __future__ import annotations

import itertools

from overlay_harness import Case, Draw, Generator

from shardlint.inference.domain.values import Array, Const, ListValue, Tuple, Value, integer


def product_pair(d: Draw) -> tuple[Array, Array]:
    """Two operands of matmul."""
    batch, (m, k, n) = d.shape(0, 2), (d.dim(), d.dim(), d.dim())
    a = (k,) if d.chance(0.2) else (*d.meeting(batch), m, k)
    b = (k,) if d.chance(0.2) else (*d.meeting(batch), k if d.chance(0.95) else d.dim(), n)
    return d.array(a), d.array(b)


def matmul(d: Draw) -> Case:
    return list(product_pair(d)), {} if d.numpy else d.maybe(
        0.2, preferred_element_type=lambda: Const("float32")
    )


def dot(d: Draw) -> Case:
    k = d.dim()
    if d.chance(0.1):
        return [d.array(), d.array(())], {}
    a, b = (*d.shape(0, 2), k), (*d.shape(0, 2), k, *d.shape(1, 1))
    return [d.array(a), d.array(b if d.chance(0.8) else (k,))], {}


def vdot(d: Draw) -> Case:
    shape = d.shape()
    return [d.array(shape), d.array(shape)], {}


def inner(d: Draw) -> Case:
    k = d.dim()
    return [d.array((*d.shape(0, 2), k)), d.array((*d.shape(0, 2), k))], {}


def pair(low: int = 0, high: int = 2) -> Generator:
    return lambda d: ([d.array(d.shape(low, high)), d.array(d.shape(low, high))], {})


def vecdot(d: Draw) -> Case:
    shape = d.shape(1, 3)
    return [d.array(shape), d.array((*d.meeting(shape[:-1]), shape[-1]))], {}


def tensordot(d: Draw) -> Case:
    shared = d.shape(1, 2)
    a, b = d.array((*d.shape(0, 2), *shared)), d.array((*shared, *d.shape(0, 2)))
    if d.chance(0.5):
        return [a, b, Const(len(shared))], {}
    rank = len(a.shape or ())
    left = Tuple(tuple(Const(rank - len(shared) + i) for i in range(len(shared))))
    return [a, b, Tuple((left, Tuple(tuple(Const(i) for i in range(len(shared))))))], {}


_EINSUMS = (
    "ij,jk->ik", "bij,bjk->bik", "ij,jk", "i,i",
    "ii->i", "ii", "ij->ji", "...ij,...jk->...ik", "bthd,bshd->bhts",
    "...d,df->...f", "ab,ab->", "i,j->ij", "bqhd,bkhd->bhqk",
    "...i,...i", "btd, dnh -> btnh", "ij->", "i...->...",
    "abc->cab", "ij,j->i", "a...b,b->...a",
    "ii->i", "ii", "iji->j", "ii,i->i",
)  # fmt: skip


def einsum(d: Draw) -> Case:
    text = d.pick(*_EINSUMS)
    letters: dict[str, object] = {}
    batch = d.shape(0, 2)
    arrays = []
    for term in text.replace(" ", "").partition("->")[0].split(","):
        shape: list = []
        for letter in term.replace("...", "."):
            if letter == ".":
                shape.extend(d.meeting(batch))
            else:
                size = letters.setdefault(letter, d.dim()) if d.chance(0.98) else d.dim()
                shape.append(1 if "ii" in text and d.chance(0.2) else size)
        arrays.append(d.array(tuple(shape)))
    return [Const(text), *arrays], {} if d.numpy else d.maybe(
        0.2, preferred_element_type=lambda: Const("float32")
    )


def cross(d: Draw) -> Case:
    shape = d.shape(0, 2)
    return [d.array((*shape, 3)), d.array((*d.meeting(shape), 3))], {}


def convolve(d: Draw) -> Case:
    return [d.array((d.dim(),)), d.array((d.dim(),))], d.maybe(
        0.7, mode=lambda: Const(d.pick("full", "same", "valid"))
    )


def multi_dot(d: Draw) -> Case:
    sizes = [d.dim() for _ in range(d.between(3, 4))]
    return [ListValue([d.array((m, n), "float32") for m, n in itertools.pairwise(sizes)])], {}


def square(d: Draw) -> Case:
    n = 1 if d.numpy else d.dim()
    return [d.array((*d.shape(0, 1), n, n), d.pick("float32", "int32"))], {}


def solve(d: Draw) -> Case:
    n = 1 if d.numpy else d.dim()
    return [d.array((n, n), "float32"), d.array((n,) if d.chance(0.5) else (n, d.dim()), "float32")], {}


def matrix(*, full: bool = False) -> Generator:
    def generate(d: Draw) -> Case:
        x = d.array((*d.shape(0, 1), d.dim(), d.dim()), "float32")
        return [x], d.maybe(
            full_matrices=lambda: Const(False), compute_uv=lambda: Const(d.chance(0.5))
        ) if full else {}

    return generate


def where(d: Draw) -> Case:
    shape = d.shape()
    condition = d.array(d.meeting(shape), "bool")
    if d.numpy and d.chance(0.08):
        return [d.array(d.shape(1, 2), "bool")], {}
    return [
        condition,
        *(d.array(d.meeting(shape)) if d.chance(0.7) else Const(d.pick(1, 2.5)) for _ in "xy"),
    ], {}


def sized(d: Draw) -> Case:
    return [d.array(d.shape(1, 3), "bool")], {} if d.numpy else {"size": integer(d.dim())}


def take(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    at = Array(d.shape(0, 2), "int32", numpy=d.numpy) if not d.numpy else Const(0)
    return [x, at], d.maybe(0.7, axis=lambda: Const(d.axis(len(x.shape or ()))))


def take_along_axis(d: Draw) -> Case:
    x = d.array(tuple(d.dim(2) for _ in range(d.between(1, 3))))
    shape = x.shape or ()
    axis = d.axis(len(shape), 0)
    chosen = tuple(
        d.dim() if i == axis % len(shape) else 1 if d.chance(0.2) else n for i, n in enumerate(shape)
    )
    return [x, Array(chosen, "int32", numpy=d.numpy)], {"axis": Const(axis)}


def select(d: Draw) -> Case:
    shape = d.shape()
    count = d.between(1, 2)
    tests: list[Value] = [d.array(d.meeting(shape), "bool") for _ in range(count)]
    return [ListValue(tests), ListValue([d.array(d.meeting(shape)) for _ in range(count)])], {}


def searchsorted(d: Draw) -> Case:
    rows = d.shape(0, 2)
    return [d.array((d.dim(), *rows), "float32"), d.array(d.meeting(rows), "float32")], {}


def digitize(d: Draw) -> Case:
    return [d.array(dtype="float32"), d.array((d.dim(),), "float32")], {}


def isin(d: Draw) -> Case:
    return [d.array(d.shape(1, 3), "int32"), d.array(d.shape(1, 2), "int32")], {}


def interp(d: Draw) -> Case:
    n = d.dim()
    return [d.array(dtype="float32"), d.array((n,), "float32"), d.array((n,), "float32")], {}


def bincount(d: Draw) -> Case:
    return [d.array((d.dim(),), "int32")], {} if d.numpy else {"length": integer(d.dim())}


def histogram(d: Draw) -> Case:
    return [d.array(dtype=d.pick("float32", "int32"))], d.maybe(bins=lambda: Const(d.between(1, 9)))


def diff(d: Draw) -> Case:
    x = d.array(d.shape(1, 3), d.pick("float32", "int32"))
    return [x], d.maybe(n=lambda: Const(d.between(0, 3)), axis=lambda: Const(d.axis(len(x.shape or ()))))


def trapezoid(d: Draw) -> Case:
    x = d.array(d.shape(1, 3), d.float_dtype())
    return [x], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))


def polyval(d: Draw) -> Case:
    return [d.array((d.dim(),), "float32"), d.array(dtype="float32")], {}


def lexsort(d: Draw) -> Case:
    x = d.array((d.dim(),))
    return [Tuple((x, x))], {}


def unique(d: Draw) -> Case:
    return [d.array(d.shape(1, 2))], {} if d.numpy else {"size": integer(d.dim())}
