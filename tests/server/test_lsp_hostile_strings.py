"""Whatever names and sources hold, an editor is sent text that can be seen, and no links but ours."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import attrs
import pytest
from hostile_strings import FRAGMENTS, parsers, silent, tokens
from lsp_actions import actions_at
from lsp_asking import Asking
from lsp_editor import Editor, eventually
from lsprotocol import types
from pygls.exceptions import JsonRpcException

PROGRAM = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

axis = {axis}
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), (axis, {other}))
plain = Mesh(np.array(jax.devices()).reshape(8), ("model",))
good = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P({axis}, {other})))
bad = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P({axis}, {other})))
worse = NamedSharding(mesh, P({wrong}))  # {comment}
same = NamedSharding(mesh, (axis, None))  # shardlint: ignore[SHL202]
spec = P({axis})

@jax.jit
def f(x):
    return jax.shard_map(lambda y: jax.lax.psum(y, {axis}), mesh=mesh, in_specs=spec, out_specs=P())(x)

f(good)
NamedSharding(mesh, P(""))
"""
#: What is not shown but used as it is: texts and addresses of documents, and what the client sends back.
_USED = {"newText", "new_text", "uri", "href", "data", "placeholder", "pattern", "sortText", "sort_text"}
#: What Markdown of ours is made of.
OURS = {
    *("paragraph_open", "paragraph_close", "inline", "text", "text_special", "code_inline", "fence", "hr"),
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    *("strong_open", "strong_close", "link_open", "link_close", "softbreak"),
}


def strings(answer: Any, key: str = "") -> Iterator[str]:
    """The strings of an answer that are shown."""
    if attrs.has(type(answer)):
        answer = attrs.asdict(answer)
    if isinstance(answer, str) and key not in _USED:
        yield answer
    elif isinstance(answer, dict):
        for name, value in answer.items():
            yield from strings(value, name)
    elif isinstance(answer, Sequence) and not isinstance(answer, str):
        for value in answer:
            yield from strings(value, key)


def assert_seen(answer: Any) -> list[str]:
    """Check that all of an answer can be seen; return it."""
    found = list(strings(answer))
    for text in found:
        assert silent(text.replace("\n", "")) == [], answer
    return found


def hostile(chance: random.Random) -> str:
    return "".join(chance.choice(FRAGMENTS) for _ in range(chance.randint(1, 4)))


def literal(text: str, chance: random.Random) -> str:
    """A literal of Python, written with escapes or as it is."""
    if chance.random() < 0.5:
        return ascii(text)
    text = text.encode("utf-8", "replace").decode()
    return '"' + re.sub(r'[\\"\n\r\0]', lambda found: f"\\x{ord(found[0]):02x}", text) + '"'


def document(seed: int) -> tuple[str, str, str]:
    """A name for a file, a program, and what its first axis is called."""
    chance = random.Random(seed)
    axis, other, wrong, name = (hostile(chance) for _ in range(4))
    comment = re.sub("[\n\r\0]", "", hostile(chance)).encode("utf-8", "replace").decode()
    text = PROGRAM.format(
        axis=literal(axis, chance),
        other=literal(f"b{other}", chance),
        wrong=literal(wrong, chance),
        comment=comment,
    )
    return re.sub("[/\0\ud800-\udfff]", "", name)[:40], text, axis


def places(text: str) -> list[types.Position]:
    """The beginnings of all names and strings."""
    return [
        types.Position(number, len(line[: found.start() + 1].encode("utf-16-le", "surrogatepass")) // 2)
        for number, line in enumerate(re.split(r"\r\n|\n|\r", text))
        for found in re.finditer(r"\w+|[\"']", line)
    ]


#: Where the pages of rules lead.
PAGES = ("https://docs.jax.dev/", "https://flax", "https://github.com/jax-ml/jax/")


def assert_ours(hover: str, uri: str) -> None:
    """Check that a hover is made of what we put there, and leads to the document and to JAX's pages only."""
    for parser in parsers():
        found = tokens(parser, hover)
        assert {token.type for token in found} <= OURS, hover
        for token in found:
            if token.type == "link_open":
                leads = unquote(str(token.attrs["href"]))
                assert leads.startswith((f"{unquote(uri)}#L", *PAGES)), hover


@pytest.mark.parametrize("seed", range(12))
async def test_every_answer(modern_editor: Editor, tmp_path: Path, seed: int) -> None:
    editor = modern_editor
    name, text, _ = document(seed)
    path = tmp_path / f"{name}.py"
    uri = editor.open(path, text)
    diagnostics = await editor.pull(uri)
    assert diagnostics
    assert_seen(diagnostics)
    hovers = 0
    for place in places(text):
        asking = Asking(editor, uri, place)
        if hover := await asking.hover():
            hovers += 1
            assert_seen(hover)
            assert_ours(hover, uri)
        prepared = await asking.prepared()
        if prepared is not None:
            for new in ("fine", hostile(random.Random(seed))):
                try:
                    edit = await asking.renamed(new)
                except JsonRpcException as error:
                    assert_seen(error.message)
                    assert "](" not in error.message
                else:
                    assert_seen(list((edit.change_annotations or {}).values()))
        assert_seen(await asking.completions())
    assert hovers > 10
    assert_seen(await Asking(editor, uri, types.Position(0, 0)).hints())
    whole = types.Range(types.Position(0, 0), types.Position(text.count("\n"), 0))
    actions = await actions_at(editor, uri, whole)
    assert actions
    for action in actions:
        assert_seen([action.title, action.command and [action.command.title, action.command.arguments]])
        assert_seen(action.diagnostics)


@pytest.mark.parametrize(
    "text", ["data", "a\"), __import__('os').system('x')#", "a\nb", "\u202ex", "a\\", "{x}"]
)
async def test_only_names_that_a_string_can_hold_are_completed(
    editor: Editor, tmp_path: Path, text: str
) -> None:
    program = (
        "import jax\nfrom jax.sharding import PartitionSpec as P\n"
        f'mesh = jax.make_mesh((2, 4), ({text!r}, "model"))\nwith jax.set_mesh(mesh):\n    P("")\n'
    )
    uri = editor.open(tmp_path / "a.py", program)
    found = await Asking(editor, uri, types.Position(4, 7)).completions()
    assert [item.label for item in found] == (["data", "model"] if text == "data" else ["model"])


async def test_messages_have_no_links(connected: Editor, tmp_path: Path) -> None:
    """Editors take them for Markdown, and VS Code runs the commands that their links name."""
    link = "[a](command:workbench.action.terminal.new)\u202e\x1b[2J"
    escaped = link.replace("\u202e", "\\u202e").replace("\x1b", "\\u001b")
    (tmp_path / "shardlint.toml").write_text(f'"{escaped}" = 1\n')
    await connected.start(options={link: 1, "devices": link}, folders=[tmp_path])
    uri = connected.open(tmp_path / "a.py", "import jax\n")
    await connected.report(uri)
    await eventually(lambda: len(connected.messages) >= 3)
    for message in assert_seen([message.message for message in connected.messages]):
        assert "](" not in message
    (problem,) = [one for one in connected.published if one.uri.endswith("toml") and one.diagnostics]
    assert_seen(problem.diagnostics)
