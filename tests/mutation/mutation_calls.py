"""What people do wrong with calls: shapes, tuples of specs, collectives, contexts, Flax names, API names."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from mutation_text import Book, Edits, Text, kind, misspelt, strings, tuple_text, without, without_argument

TUPLES = ("in_specs", "out_specs", "in_shardings", "out_shardings")
COLLECTIVES = (
    "psum", "pmean", "pmax", "pmin", "ppermute", "pshuffle", "all_gather", "all_to_all", "psum_scatter",
    "axis_index", "axis_size", "pvary", "pcast", "pbroadcast",
)  # fmt: skip
CREATION = (
    "ones", "zeros", "full", "empty", "arange", "reshape", "normal", "uniform", "randint", "ShapeDtypeStruct",
    "truncated_normal", "bernoulli", "broadcast_to", "rand", "randn", "standard_normal", "iota", "eye",
    "linspace",
)  # fmt: skip
LAYERS = (
    "Dense",
    "Linear",
    "Embed",
    "Einsum",
    "DenseGeneral",
    "LinearGeneral",
    "LayerNorm",
    "Conv",
    "param",
    "Param",
)
NAMED = (
    "with_partitioning", "with_logical_partitioning", "with_logical_constraint", "param_with_axes",
    "logical_to_mesh_axes", "logical_to_mesh", "with_metadata",
)  # fmt: skip
#: An argument and what it is taken for: by those who read of another release, or do not look it up.
KEYWORDS = {
    "check_vma": ("check_rep",),
    "check_rep": ("check_vma",),
    "axis_names": ("axes", "auto"),
    "in_specs": ("in_spec",),
    "out_specs": ("out_spec", "out_shardings"),
    "in_shardings": ("in_axis_resources", "in_sharding"),
    "out_shardings": ("out_axis_resources", "out_sharding"),
    "out_sharding": ("out_shardings",),
    "axis_types": ("axis_type",),
    "tiled": ("tile",),
    "device": ("devices",),
}
#: A function and what it is taken for, or was called in another release.
FUNCTIONS = {
    "with_sharding_constraint": "jax.sharding.reshard",
    "reshard": "jax.lax.with_sharding_constraint",
    "shard_map": "jax.smap",
    "set_mesh": "jax.sharding.use_mesh",
    "use_mesh": "jax.set_mesh",
    "NamedSharding": "jax.sharding.PositionalSharding",
    "psum": "jax.lax.pmean",
    "pmean": "jax.lax.psum",
    "all_gather": "jax.lax.psum_scatter",
    "psum_scatter": "jax.lax.all_gather",
    "all_to_all": "jax.lax.all_gather",
}
#: Arguments of these that may be forgotten, or are not known.
LEFT_OUT = (
    *TUPLES,
    "mesh",
    "tiled",
    "axis_names",
    "check_vma",
    "device",
    "out_sharding",
    "sharding",
    "spmd_axis_name",
)


def integers(node: ast.AST) -> Iterator[ast.Constant]:
    for found in ast.walk(node):
        if isinstance(found, ast.Constant) and type(found.value) is int and found.value > 1:
            yield found


def sizes(book: Book) -> Iterator[tuple[Text, ast.Constant]]:
    """Written sizes of arrays and layers, and integers with a name."""
    for text, call in book.calls(*CREATION, *LAYERS):
        if not any(
            "devices" in book.name(n) for n in ast.walk(call) if isinstance(n, ast.Attribute | ast.Name)
        ):
            for argument in [*call.args, *(k.value for k in call.keywords if k.arg != "dtype")]:
                if not any(isinstance(n, ast.Call) for n in ast.walk(argument)):
                    yield from ((text, number) for number in integers(argument))
    for text, node in book.nodes():
        if isinstance(node, ast.Assign):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            for value in values:
                if isinstance(value, ast.Constant):
                    yield from ((text, number) for number in integers(value))


@kind("shape: odd size")
def odd_size(book: Book) -> Edits:
    for text, number in sizes(book):
        yield text, number, str(int(str(number.value)) + 1)


@kind("shape: half the size")
def half_size(book: Book) -> Edits:
    for text, number in sizes(book):
        yield text, number, str(int(str(number.value)) // 2)


@kind("shape: dimension left out")
def dimension_left_out(book: Book) -> Edits:
    for text, call in book.calls(*CREATION):
        for shape in call.args:
            if isinstance(shape, ast.Tuple) and len(shape.elts) > 1:
                for i in range(len(shape.elts)):
                    kept = [text.of(e) for j, e in enumerate(shape.elts) if j != i]
                    yield text, shape, tuple_text(kept)


@kind("shape: a dimension more")
def dimension_more(book: Book) -> Edits:
    for text, call in book.calls(*CREATION):
        for shape in call.args:
            if isinstance(shape, ast.Tuple) and shape.elts:
                yield text, shape, tuple_text(["1", *(text.of(e) for e in shape.elts)])


def spec_tuples(book: Book) -> Iterator[tuple[Text, ast.Tuple | ast.List]]:
    for text, node in book.nodes():
        if (
            isinstance(node, ast.keyword)
            and node.arg in TUPLES
            and isinstance(node.value, ast.Tuple | ast.List)
        ):
            yield text, node.value


@kind("specs: one dropped")
def spec_dropped(book: Book) -> Edits:
    for text, node in spec_tuples(book):
        for i in range(len(node.elts)):
            kept = [text.of(e) for j, e in enumerate(node.elts) if j != i]
            yield text, node, tuple_text(kept) if kept else "()"


@kind("specs: one more")
def spec_added(book: Book) -> Edits:
    for text, node in spec_tuples(book):
        if node.elts:
            end = text.span(node.elts[-1])[1]
            yield text, (end, end), f", {text.of(node.elts[-1])}"


@kind("specs: exchanged")
def specs_exchanged(book: Book) -> Edits:
    for text, node in spec_tuples(book):
        for one, two in itertools.pairwise(node.elts):
            yield text, (text.span(one)[0], text.span(two)[1]), f"{text.of(two)}, {text.of(one)}"


@kind("specs: only the first")
def only_first(book: Book) -> Edits:
    for text, node in spec_tuples(book):
        if node.elts:
            yield text, node, text.of(node.elts[0])


@kind("specs: wrapped in a tuple")
def wrapped(book: Book) -> Edits:
    for text, node in book.nodes():
        if isinstance(node, ast.keyword) and node.arg in TUPLES and not isinstance(node.value, ast.Tuple):
            yield text, node.value, f"({text.of(node.value)},)"


@kind("specs: in and out exchanged")
def in_and_out(book: Book) -> Edits:
    for text, call in ((t, n) for t, n in book.nodes() if isinstance(n, ast.Call)):
        given = {k.arg: k for k in call.keywords}
        for one, two in (("in_specs", "out_specs"), ("in_shardings", "out_shardings")):
            if one in given and two in given:
                first, second = sorted((given[one], given[two]), key=lambda k: text.span(k))
                between = text.text[text.span(first)[1] : text.span(second)[0]]
                new = f"{first.arg}={text.of(second.value)}{between}{second.arg}={text.of(first.value)}"
                yield text, (text.span(first)[0], text.span(second)[1]), new


@kind("call: an argument left out")
def left_out(book: Book) -> Edits:
    for text, node in book.nodes():
        if isinstance(node, ast.Call):
            for argument in node.keywords:
                if argument.arg in LEFT_OUT:
                    yield text, without_argument(text, node, argument), ""


@kind("call: a wrong keyword")
def wrong_keyword(book: Book) -> Edits:
    for text, node in book.nodes():
        if isinstance(node, ast.keyword) and node.arg in KEYWORDS:
            start = text.span(node)[0]
            yield from ((text, (start, start + len(node.arg)), new) for new in KEYWORDS[node.arg])


@kind("call: a wrong function")
def wrong_function(book: Book) -> Edits:
    for text, call in book.calls(*FUNCTIONS):
        if (name := book.name(call.func)) in FUNCTIONS:
            yield text, call.func, FUNCTIONS[name]


@kind("call: jit left out")
def jit_left_out(book: Book) -> Edits:
    for text, node in book.nodes():
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if book.name(called) == "jit" or (
                    isinstance(decorator, ast.Call) and book.called(decorator) == "jit"
                ):
                    start, end = text.span(decorator)
                    yield (
                        text,
                        (start - 1, end),
                        "#" + " " * (end - start) if "\n" not in text.of(decorator) else "",
                    )
        elif isinstance(node, ast.Call) and book.name(node.func) == "jit" and len(node.args) == 1:
            yield text, node, text.of(node.args[0])


def collectives(book: Book) -> Iterator[tuple[Text, ast.Call, ast.expr]]:
    """Collectives, with the axis they name."""
    for text, call in book.calls(*COLLECTIVES):
        position = 0 if book.called(call) in ("axis_index", "axis_size") else 1
        named = next((k.value for k in call.keywords if k.arg == "axis_name"), None)
        if named is not None or len(call.args) > position:
            yield text, call, named or call.args[position]


@kind("collective: misspelt axis")
def misspelt_in_collective(book: Book) -> Edits:
    for text, _, named in collectives(book):
        for name in strings(named):
            yield text, name, repr(misspelt(str(name.value)))


@kind("collective: another axis")
def another_collective_axis(book: Book) -> Edits:
    for text, _, named in collectives(book):
        for name in strings(named):
            if (other := book.other_axis(name.value)) is not None:
                yield text, name, repr(other)


@kind("collective: an axis more or less")
def axes_of_collective(book: Book) -> Edits:
    for text, _, named in collectives(book):
        if isinstance(named, ast.Tuple) and len(named.elts) > 1:
            yield from ((text, without(text, named.elts, i), "") for i in range(len(named.elts)))
        elif isinstance(named, ast.Constant) and (other := book.other_axis(named.value)) is not None:
            yield text, named, f"({named.value!r}, {other!r})"


@kind("collective: left out")
def collective_left_out(book: Book) -> Edits:
    for text, call, _ in collectives(book):
        if call.args and book.called(call) not in ("axis_index", "axis_size"):
            yield text, call, text.of(call.args[0])


@kind("collective: tiled or not")
def tiled(book: Book) -> Edits:
    for text, call in book.calls("all_gather", "all_to_all", "psum_scatter"):
        given = next((k for k in call.keywords if k.arg == "tiled"), None)
        if given is None:
            end = text.span(call)[1] - 1
            yield text, (end, end), ", tiled=True"
        elif isinstance(given.value, ast.Constant):
            yield text, given.value, str(not given.value.value)


@kind("collective: another dimension")
def another_dimension(book: Book) -> Edits:
    for text, call in book.calls("all_gather", "all_to_all", "psum_scatter"):
        for argument in call.keywords:
            if argument.arg in ("axis", "split_axis", "concat_axis", "scatter_dimension") and isinstance(
                argument.value, ast.Constant
            ):
                yield text, argument.value, str(int(str(argument.value.value)) + 1)
                if argument.value.value:
                    yield text, argument.value, "0"


@kind("context: left out")
def context_left_out(book: Book) -> Edits:
    for text, node in book.nodes():
        if isinstance(node, ast.With):
            for item in node.items:
                if _is_context(book, item.context_expr) and len(node.items) == 1:
                    start = text.span(node)[0]
                    yield text, (start, text.span(item.optional_vars or item.context_expr)[1]), "if True"
        elif (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_context(book, node.value)
        ):
            yield text, node, "pass"


def _is_context(book: Book, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id in book.meshes
    return isinstance(node, ast.Call) and book.called(node) in (
        "set_mesh",
        "use_mesh",
        "axis_rules",
        "logical_axis_rules",
    )


@kind("context: of the other sort")
def other_context(book: Book) -> Edits:
    for text, node in book.nodes():
        if isinstance(node, ast.With):
            for item in node.items:
                given = item.context_expr
                if isinstance(given, ast.Name) and given.id in book.meshes:
                    yield text, given, f"jax.set_mesh({given.id})"
                elif (
                    isinstance(given, ast.Call)
                    and book.called(given) in ("set_mesh", "use_mesh")
                    and given.args
                ):
                    yield text, given, text.of(given.args[0])


def name_tuples(book: Book) -> Iterator[tuple[Text, ast.Tuple]]:
    """Tuples of names that Flax is given: of parameters' dimensions, logical or not."""
    for text, call in book.calls(*NAMED):
        for node in [*call.args, *(k.value for k in call.keywords)]:
            if isinstance(node, ast.Tuple) and all(isinstance(e, ast.Constant | ast.Name) for e in node.elts):
                yield text, node
    for text, given in book.nodes():
        if (
            isinstance(given, ast.keyword)
            and given.arg in ("sharding", "out_sharding", "sharding_names", "names", "kernel_axes")
            and isinstance(given.value, ast.Tuple)
        ):
            yield text, given.value


@kind("names: misspelt")
def misspelt_name(book: Book) -> Edits:
    for text, node in name_tuples(book):
        for name in strings(node):
            yield text, name, repr(misspelt(str(name.value)))


@kind("names: one more")
def name_more(book: Book) -> Edits:
    for text, node in name_tuples(book):
        old = [text.of(e) for e in node.elts]
        yield text, node, tuple_text([*old, "None"])
        yield text, node, tuple_text(["None", *old])


@kind("names: one less")
def name_less(book: Book) -> Edits:
    for text, node in name_tuples(book):
        for i in range(len(node.elts)):
            kept = [text.of(e) for j, e in enumerate(node.elts) if j != i]
            yield text, node, tuple_text(kept) if kept else "()"


@kind("names: repeated")
def name_repeated(book: Book) -> Edits:
    for text, node in name_tuples(book):
        for name in strings(node)[:1]:
            yield from ((text, e, repr(name.value)) for e in node.elts if text.of(e) != text.of(name))


@kind("names: exchanged")
def names_exchanged(book: Book) -> Edits:
    for text, node in name_tuples(book):
        for one, two in itertools.pairwise(node.elts):
            yield text, (text.span(one)[0], text.span(two)[1]), f"{text.of(two)}, {text.of(one)}"


@kind("names: a string for the tuple")
def string_for_names(book: Book) -> Edits:
    for text, node in name_tuples(book):
        yield from ((text, node, repr(name.value)) for name in strings(node)[:1])


def rules(book: Book) -> Iterator[tuple[Text, list[ast.expr], ast.Tuple]]:
    """The rows of tables of logical axis rules."""
    for text, node in book.nodes():
        if isinstance(node, ast.List | ast.Tuple) and node.elts:
            rows = [
                e for e in node.elts
                if isinstance(e, ast.Tuple) and len(e.elts) == 2 and isinstance(e.elts[0], ast.Constant)
                and isinstance(e.elts[0].value, str)
            ]  # fmt: skip
            if len(rows) == len(node.elts):
                yield from ((text, node.elts, row) for row in rows)


@kind("rules: misspelt")
def misspelt_rule(book: Book) -> Edits:
    for text, _, row in rules(book):
        for name in strings(row):
            yield text, name, repr(misspelt(str(name.value)))


@kind("rules: one left out")
def rule_left_out(book: Book) -> Edits:
    for text, rows, row in rules(book):
        if len(rows) > 1:
            yield text, without(text, rows, rows.index(row)), ""


@kind("rules: to another axis")
def rule_to_another(book: Book) -> Edits:
    for text, _, row in rules(book):
        named = row.elts[1]
        if isinstance(named, ast.Constant):
            other = book.other_axis(named.value)
            yield text, named, repr(other)
            if named.value is not None:
                yield text, named, "None"


@kind("transform: misspelt axis")
def misspelt_axis_name(book: Book) -> Edits:
    for text, node in book.nodes():
        if isinstance(node, ast.keyword) and node.arg in ("axis_name", "spmd_axis_name", "axis_names"):
            for name in strings(node.value):
                yield text, name, repr(misspelt(str(name.value)))


@kind("transform: another dimension")
def transform_dimension(book: Book) -> Edits:
    for text, node in book.nodes():
        if isinstance(node, ast.keyword) and node.arg in (
            "in_axes",
            "out_axes",
            "variable_axes",
            "scatter_axes",
        ):
            for number in ast.walk(node.value):
                if isinstance(number, ast.Constant) and type(number.value) is int:
                    yield text, number, "1" if number.value == 0 else "0"
