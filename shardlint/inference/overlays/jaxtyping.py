"""jaxtyping: annotations that describe arrays, and decorators that only check them.

``Float[Array, "batch 4*d"]`` describes an array; it is checked only if a type checker is used. The meaning of
the words of a shape is that of jaxtyping 0.3.11 (`_array_types._make_array_cached`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from shardlint.inference.domain.values import Const, External, LibraryObject, Tuple, Value, as_items, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.laws.core.size_syntax import ArrayPattern
from shardlint.laws.core.values import Unknown

#: The kind of an array's description: ``sizes`` are words of a shape, ``dtype`` a name or None.
DESCRIPTION = "jaxtyping.AbstractArray"
#: ``jax.Array | torch.Tensor``, ``Union[...]``.
UNION = "typing.Union"

#: Categories of dtypes, and names of single dtypes.
_OPEN = "Shaped Num Inexact Float Complex Integer UInt Int Real Key".split()
_DTYPES = {
    "Bool": "bool",
    "BFloat16": "bfloat16",
    **{f"Float{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"Int{bits}": f"int{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"UInt{bits}": f"uint{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"Complex{bits}": f"complex{bits}" for bits in (64, 128)},
    **{
        f"Float8{kind}": f"float8_{kind}"
        for kind in "e4m3b11fnuz e4m3fn e4m3fnuz e5m2 e5m2fnuz".split()
    },
}  # fmt: skip
_NUMPY = "numpy.ndarray"
_ARRAYS = frozenset({"jax.Array", "jax.numpy.ndarray", "jaxtyping.Array", _NUMPY})
_NAME = re.compile(r"[^\W\d]\w*")
_WHOLE = re.compile(r"\d+")
_ARITHMETIC = re.compile(r"[\w.+*%/()-]+")


def subscripted(receiver: External, key: Value) -> Value | None:
    """Return ``receiver[key]`` for names of jaxtyping and unions of classes; None for any other."""
    module, _, name = receiver.name.rpartition(".")
    if receiver.name == UNION:
        return LibraryObject(UNION, {"classes": Tuple(as_items(key) or (key,))})
    if module != "jaxtyping" or (name not in _OPEN and name not in _DTYPES):
        return None
    items = as_items(key) or ()
    shape = as_str(items[1]) if len(items) == 2 else None
    words = None if shape is None else words_of(shape)
    if words is None:
        return Unknown(f"`{name}[...]` that is not understood")
    return _described(items[0], words, _DTYPES.get(name))


def union(a: Value, b: Value) -> Value | None:
    """Return ``a | b`` of classes; None if a side may be something else."""
    classes = [_classes(side) for side in (a, b)]
    return None if None in classes else LibraryObject(UNION, {"classes": Tuple((*classes[0], *classes[1]))})  # type: ignore[misc]


def _classes(value: Value) -> tuple[Value, ...] | None:
    if isinstance(value, LibraryObject) and value.kind == UNION:
        return as_items(value.fields["classes"])
    known = isinstance(value, External) or (isinstance(value, LibraryObject) and value.kind == DESCRIPTION)
    return (value,) if known else None


def _described(array: Value, words: tuple[str, ...], dtype: str | None) -> Value:
    """Return the description of an array of this class, which may be a description itself."""
    if isinstance(array, LibraryObject) and array.kind == DESCRIPTION:
        inner = pattern_of(array)
        assert inner is not None
        words, dtype = (*words, *inner.sizes), dtype or inner.dtype
        kind = array.fields["array"]
    else:
        options = _classes(array) or ()
        names = {option.name for option in options if isinstance(option, External)}
        if names.isdisjoint(_ARRAYS):
            return Unknown("a description of what may be no array")
        # If both are possible, the description is of a JAX array.
        kind = Const(_NUMPY if names == {_NUMPY} else "jax.Array")
    if sum(word == "..." for word in words) > 1:
        return Unknown("a shape of two open ends")
    sizes = Tuple(tuple(Const(word) for word in words))
    return LibraryObject(DESCRIPTION, {"sizes": sizes, "dtype": Const(dtype), "array": kind})


def pattern_of(value: Value) -> ArrayPattern | None:
    """Return the pattern of an array that an annotation describes; None for any other annotation."""
    if isinstance(value, External) and value.name == "jaxtyping.Scalar":
        return ArrayPattern(())
    if not isinstance(value, LibraryObject) or value.kind != DESCRIPTION:
        return None
    sizes = tuple(as_str(item) or "_" for item in as_items(value.fields["sizes"]) or ())
    return ArrayPattern(sizes, as_str(value.fields["dtype"]), as_str(value.fields["array"]) == _NUMPY)


def words_of(shape: str) -> tuple[str, ...] | None:
    """Return the sizes of ``"*batch d=4096 #c _"``: ``_`` for any size, ``...`` for any number of sizes.

    None if jaxtyping refuses the text.
    """
    words = []
    for word in shape.split():
        if ("," in word and "(" not in word) or word.endswith("#") or ("..." in word and word != "..."):
            return None
        words.append(word if word == "..." else _word(word))
    return None if words.count("...") > 1 else tuple(words)


def _word(word: str) -> str:
    modifiers = ""
    while word:
        if word[0] in "#*_?":
            modifiers, word = modifiers + word[0], word[1:]
        elif word.count("=") == 1:
            word = word.partition("=")[2]
        else:
            break
    if "*" in modifiers:
        return "..."
    # A size of 1 with broadcasting fits any size, and other computed sizes are left open.
    plain = _NAME.fullmatch(word) or _WHOLE.fullmatch(word) or _ARITHMETIC.fullmatch(word)
    return word if plain and not modifiers else "_"


def _checked(call: Call) -> Value:
    """Return a decorator that checks the arguments of a function, with options or without."""
    functions = [arg for arg in call.args if not isinstance(arg, Const)]
    return functions[0] if len(functions) == 1 and not call.opaque else LibraryObject("keeps", {})


TABLE: dict[str, Callable[[Call], Value]] = dict.fromkeys(
    ("jaxtyping.jaxtyped", "beartype.beartype", "typeguard.typechecked"), _checked
)
