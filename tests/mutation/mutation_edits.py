"""What people do wrong with specs and meshes: kinds of edit of `PartitionSpec`s and of meshes."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from mutation_text import Book, Edits, Text, keyword, kind, misspelt, strings, tuple_text, without

MESHES = ("Mesh", "make_mesh", "AbstractMesh")


def specs(book: Book) -> Iterator[tuple[Text, ast.Call]]:
    """Every call of PartitionSpec with written entries only."""
    for text, call in book.calls("PartitionSpec"):
        if not call.keywords and not any(isinstance(a, ast.Starred) for a in call.args):
            yield text, call


def is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def axis_of(node: ast.AST) -> str | None:
    """The axis that a spec's entry names, if it is a string."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def closing(text: Text, call: ast.Call) -> tuple[int, int]:
    """The empty span before the parenthesis that closes a call, behind its last argument."""
    end = text.span(call)[1] - 1
    if call.args or call.keywords:
        end = max(text.span(a)[1] for a in [*call.args, *call.keywords])
    return end, end


def name_positions(call: ast.Call) -> ast.expr | None:
    """The axis names of a mesh."""
    return keyword(call, "axis_names") or (call.args[1] if len(call.args) > 1 else None)


@kind("spec: misspelt axis")
def misspelt_in_spec(book: Book) -> Edits:
    for text, call in specs(book):
        for name in strings(call):
            yield text, name, repr(misspelt(str(name.value)))


@kind("spec: another axis")
def another_axis(book: Book) -> Edits:
    for text, call in specs(book):
        for name in strings(call):
            if (other := book.other_axis(name.value)) is not None:
                yield text, name, repr(other)


@kind("spec: an entry more at the end")
def entry_at_end(book: Book) -> Edits:
    for text, call in specs(book):
        yield text, closing(text, call), ", None" if call.args else "None"


@kind("spec: an axis more at the end")
def axis_at_end(book: Book) -> Edits:
    for text, call in specs(book):
        taken = [name.value for name in strings(call)]
        if (other := book.other_axis(*taken)) is not None:
            yield text, closing(text, call), f", {other!r}" if call.args else repr(other)


@kind("spec: an entry more in front")
def entry_in_front(book: Book) -> Edits:
    for text, call in specs(book):
        if call.args:
            start = text.span(call.args[0])[0]
            yield text, (start, start), "None, "


@kind("spec: repeated axis")
def repeated_axis(book: Book) -> Edits:
    for text, call in specs(book):
        for name in strings(call)[:1]:
            yield text, closing(text, call), f", {name.value!r}"
            for entry in call.args:
                if is_none(entry) or axis_of(entry) not in (None, name.value):
                    yield text, entry, repr(name.value)


@kind("spec: dropped entry")
def dropped_entry(book: Book) -> Edits:
    for text, call in specs(book):
        for i in range(len(call.args)):
            yield text, without(text, call.args, i), ""


@kind("spec: emptied")
def emptied(book: Book) -> Edits:
    for text, call in specs(book):
        if len(call.args) > 1:
            yield text, (text.span(call.args[0])[0], text.span(call.args[-1])[1]), ""


@kind("spec: swapped entries")
def swapped_entries(book: Book) -> Edits:
    for text, call in specs(book):
        for one, two in itertools.pairwise(call.args):
            first, second = text.of(one), text.of(two)
            between = text.text[text.span(one)[1] : text.span(two)[0]]
            yield text, (text.span(one)[0], text.span(two)[1]), second + between + first


@kind("spec: None for an axis")
def none_for_axis(book: Book) -> Edits:
    for text, call in specs(book):
        yield from ((text, entry, "None") for entry in call.args if not is_none(entry))


@kind("spec: an axis for None")
def axis_for_none(book: Book) -> Edits:
    for text, call in specs(book):
        other = book.other_axis(*(name.value for name in strings(call)))
        if other is not None:
            yield from ((text, entry, repr(other)) for entry in call.args if is_none(entry))


@kind("spec: tuple entry split")
def tuple_split(book: Book) -> Edits:
    for text, call in specs(book):
        for entry in call.args:
            if isinstance(entry, ast.Tuple) and len(entry.elts) > 1:
                yield text, entry, ", ".join(text.of(e) for e in entry.elts)


@kind("spec: entries merged")
def entries_merged(book: Book) -> Edits:
    for text, call in specs(book):
        for one, two in itertools.pairwise(call.args):
            if axis_of(one) and axis_of(two):
                new = tuple_text([text.of(one), text.of(two)])
                yield text, (text.span(one)[0], text.span(two)[1]), new


@kind("spec: names in one string")
def one_string(book: Book) -> Edits:
    for text, call in specs(book):
        names = [axis_of(entry) for entry in call.args]
        if len(names) > 1 and all(names):
            span = text.span(call.args[0])[0], text.span(call.args[-1])[1]
            yield text, span, repr(",".join(str(name) for name in names))


@kind("spec: a tuple for it")
def tuple_for_spec(book: Book) -> Edits:
    for text, call in specs(book):
        yield text, call, tuple_text([text.of(a) for a in call.args]) if call.args else "()"


@kind("spec: all entries in a list")
def listed(book: Book) -> Edits:
    for text, call in specs(book):
        if call.args:
            span = text.span(call.args[0])[0], text.span(call.args[-1])[1]
            yield text, span, f"[{text.text[slice(*span)]}]"


@kind("sharding: bare spec for it")
def bare_spec(book: Book) -> Edits:
    for text, call in book.calls("NamedSharding"):
        if len(call.args) == 2:
            yield text, call, text.of(call.args[1])


@kind("sharding: arguments exchanged")
def sharding_exchanged(book: Book) -> Edits:
    for text, call in book.calls("NamedSharding"):
        if len(call.args) == 2:
            mesh, spec = call.args
            yield text, (text.span(mesh)[0], text.span(spec)[1]), f"{text.of(spec)}, {text.of(mesh)}"


@kind("sharding: another mesh")
def other_mesh(book: Book) -> Edits:
    for text, call in book.calls("NamedSharding", "shard_map", "set_mesh", "logical_to_mesh_sharding"):
        for node in [*call.args, *(k.value for k in call.keywords)]:
            if isinstance(node, ast.Name) and node.id in book.meshes:
                yield from ((text, node, mesh) for mesh in book.meshes if mesh != node.id)


@kind("mesh: renamed axis")
def renamed_axis(book: Book) -> Edits:
    for text, call in book.calls(*MESHES):
        for name in strings(name_positions(call) or ast.Tuple(elts=[])):
            yield text, name, repr("dp" if name.value != "dp" else "tp")


@kind("mesh: misspelt axis")
def misspelt_in_mesh(book: Book) -> Edits:
    for text, call in book.calls(*MESHES):
        for name in strings(name_positions(call) or ast.Tuple(elts=[])):
            yield text, name, repr(misspelt(str(name.value)))


def mesh_names(book: Book) -> Iterator[tuple[Text, list[ast.expr]]]:
    for text, call in book.calls(*MESHES):
        names = name_positions(call)
        if isinstance(names, ast.Tuple | ast.List):
            yield text, names.elts


@kind("mesh: names exchanged")
def names_exchanged(book: Book) -> Edits:
    for text, names in mesh_names(book):
        for one, two in itertools.pairwise(names):
            yield text, (text.span(one)[0], text.span(two)[1]), f"{text.of(two)}, {text.of(one)}"


@kind("mesh: repeated axis")
def mesh_axis_repeated(book: Book) -> Edits:
    for text, names in mesh_names(book):
        yield from ((text, name, text.of(names[0])) for name in names[1:])


@kind("mesh: dropped axis")
def mesh_axis_dropped(book: Book) -> Edits:
    for text, names in mesh_names(book):
        for i in range(len(names)):
            if len(names) > 1:
                yield text, without(text, names, i), ""


@kind("mesh: an axis more")
def mesh_axis_added(book: Book) -> Edits:
    for text, names in mesh_names(book):
        if names:
            end = text.span(names[-1])[1]
            yield text, (end, end), ', "stage"'


def mesh_sizes(book: Book) -> Iterator[tuple[Text, list[ast.Constant]]]:
    """The written sizes of meshes: the integers of ``reshape`` of devices, and of ``make_mesh``."""
    for text, call in book.calls("Mesh", "make_mesh", "create_device_mesh"):
        for argument in [*call.args[:1], *(k.value for k in call.keywords if k.arg == "axis_shapes")]:
            found = [n for n in ast.walk(argument) if isinstance(n, ast.Constant) and type(n.value) is int]
            yield text, sorted(found, key=lambda n: (n.lineno, n.col_offset))


@kind("mesh: sizes exchanged")
def sizes_exchanged(book: Book) -> Edits:
    for text, sizes in mesh_sizes(book):
        for one, two in itertools.pairwise(sizes):
            between = text.text[text.span(one)[1] : text.span(two)[0]]
            yield text, (text.span(one)[0], text.span(two)[1]), text.of(two) + between + text.of(one)


@kind("mesh: another size")
def another_size(book: Book) -> Edits:
    for text, sizes in mesh_sizes(book):
        for size in sizes:
            if isinstance(size.value, int) and size.value > 1:
                yield text, size, str(size.value // 2)
                yield text, size, str(size.value * 2)


@kind("mesh: Auto and Explicit exchanged")
def axis_types(book: Book) -> Edits:
    other = {"Auto": "Explicit", "Explicit": "Auto", "Manual": "Auto"}
    for text, node in book.nodes():
        if isinstance(node, ast.Attribute) and book.name(node.value) == "AxisType" and node.attr in other:
            end = text.span(node)[1]
            yield text, (end - len(node.attr), end), other[node.attr]


@kind("mesh: axis types left out")
def axis_types_left_out(book: Book) -> Edits:
    for text, call in book.calls(*MESHES):
        for argument in call.keywords:
            if argument.arg == "axis_types":
                start = text.text.rindex(",", 0, text.span(argument)[0])
                yield text, (start, text.span(argument)[1]), ""


@kind("mesh: axis types given")
def axis_types_given(book: Book) -> Edits:
    for text, names in mesh_names(book):
        for _, call in ((t, c) for t, c in book.calls(*MESHES) if t is text):
            if getattr(name_positions(call), "elts", None) is names and keyword(call, "axis_types") is None:
                wanted = "Auto" if book.called(call) == "make_mesh" else "Explicit"
                types = f", axis_types=(jax.sharding.AxisType.{wanted},) * {len(names)}"
                yield text, closing(text, call), types
