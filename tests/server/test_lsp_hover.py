"""Hover over arrays, meshes, specs, axes and rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_asking import ENCODINGS, Asking, placed
from lsp_editor import PRELUDE, Editor
from lsp_notebook import Notebook
from lsprotocol import types

PLACE = 'x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", "model")))\n'
CASES = {
    "a spec": (
        'x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, «P(»"data", None)))\n',
        ["`f32[8, 16]`", "`f32[4, 16]`", "4 devices", "(data=2, model=4)", "│ 0-3 │", "train.py:6"],
    ),
    "a mesh": (
        "sharding = NamedSharding(«mesh», P())\n",
        ["`mesh`", "`(data=2, model=4)`, 8 devices, Auto axes", "train.py:6"],
    ),
    "a constrained array, after emoji and a tab": (
        "def f(x):\n\t'🧪🧪'; x = «jax.lax.with_sharding_constraint»(x, NamedSharding(mesh, P('model')))\n"
        "\treturn x\nf(jnp.zeros((8, 16)))\n",
        ["**`x`** `f32[8, 16]` (512 bytes)", "`f32[2, 16]` (128 bytes)", "is called here", "train.py:10"],
    ),
    "an array that is not placed": (
        'x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, «P(»"data", "model")))\n',
        ["`f32[8, 10]`", 'spec: `P("data", "model")`', "(data=2, model=4)", "nothing: JAX refuses it"],
    ),
    "a mesh of one device": (
        "one = Mesh(np.array(jax.devices()[:1]), ('x',))\nsharding = NamedSharding(«one», P())\n",
        ["`(x=1)`, 1 device, Auto axes"],
    ),
    "a mesh of sizes without a name": (
        "def f(n):\n"
        "    made = Mesh(np.array(jax.devices()).reshape(n.a(), n.b()), ('x', 'y'))\n"
        "    return jax.device_put(jnp.zeros(8), NamedSharding(«made», P()))\n",
        ["mesh: `(x=?1, y=?2)`, Auto axes"],
    ),
    "an array on all devices, however many": (
        "made = Mesh(np.array(jax.devices()), ('x',))\n"
        "y = jax.device_put(jnp.zeros(8), NamedSharding(made, «P()»))\n",
        ["mesh: `(x=device_count)`, Auto axes", "all devices: fully replicated"],
    ),
    "an axis that stands twice on a line": (
        PLACE.replace('"model"', '«"model"»')
        + 'y = (NamedSharding(mesh, P("model")), NamedSharding(mesh, P("model")))\n',
        ["used 3 times in this file and what it imports: [train.py:7]", "#L7), [train.py:8](", "#L8)\n\n---"],
    ),
    "an array by its name": (PLACE + "print(«x»)\n", ["**`x`**", "`f32[4, 4]`", "one device"]),
    "a parameter": (
        "import flax.linen as nn\n"
        "init = nn.with_partitioning(nn.initializers.zeros, («None, 'model'»))\n"
        "with jax.set_mesh(mesh):\n"
        "    nn.Dense(32, kernel_init=init).init(jax.random.key(0), jnp.zeros((8, 16)))\n",
        ["`kernel` of nn.Dense", "`f32[16, 32]`", 'P(None, "model")'],
    ),
    "a parameter of a body": (
        "def body(«a»):\n    return a * 2\n"
        "jax.shard_map(body, mesh=mesh, in_specs=P('data'), out_specs=P('data'))(jnp.zeros((8, 16)))\n",
        ["`f32[4, 16]`", "on each device"],
    ),
    "an array in a jitted function": (
        "@jax.jit\ndef f(x):\n    «h» = x @ x.T\n    return h.sum()\nf(jnp.zeros((8, 16)))\n",
        ["**`h`** `f32[8, 8]` (256 bytes)", "spec: none is written: the compiler decides"],
    ),
    "a parameter of a jitted function": (
        "@jax.jit\ndef f(«x»):\n    return x.sum()\nf(jnp.zeros((8, 16)))\n",
        ["**`x`** `f32[8, 16]`"],
    ),
    "an axis of a mesh": (
        PLACE.replace('"model"', '«"model"»') + "P('model'), print('model')\n",
        ['**"model"**: mesh axis, size 4', "`(data=2, model=4)`", "train.py:6", "used 1 time"],
    ),
    "a misspelt axis": (
        PLACE.replace('"model"', '«"modl"»'),
        ['**"modl"**: axis of no known mesh', 'did you mean `"model"` of `(data=2, model=4)`?'],
    ),
    "an axis that vmap binds": (
        "jax.vmap(lambda r: jax.lax.psum(r, «'rows'»), axis_name='rows')(jnp.zeros((8, 16)))\n",
        ['**"rows"**: mapped axis, size 8', "used 1 time"],
    ),
    "a rule in a comment": (
        "x = 1  # shardlint: ignore[«SHL201»] it is so\n",
        ["SHL201 spec-longer-than-rank", "\n\n"],
    ),
    "a rule by its name": ("x = 1  # shardlint: ignore[«spec-longer-than-rank»]\n", ["SHL201"]),
    "a finding": (
        'x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P("data", «"model"»)))\n',
        ["SHL202 indivisible-dimension", "](http", '**"model"**: mesh axis'],
    ),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("case", CASES)
async def test_it_tells_what_is_known(
    editors: dict[str, Editor], tmp_path: Path, case: str, encoding: str
) -> None:
    editor = editors[encoding]
    program, parts = CASES[case]
    text, place = placed(PRELUDE + program, encoding)
    uri = editor.open(tmp_path / "train.py", text)
    for position in (place.start, types.Position(place.end.line, place.end.character - 1)):
        said = await Asking(editor, uri, position).hover()
        assert [part for part in parts if part not in said] == [], said


NOTHING = {
    "a spec of the caller's": "def f(m, x):\n    return jax.device_put(x, NamedSharding(m, «P»('a')))\n",
    "a plain word": PLACE + 'print(«"model"», x.shape)\n',
    "a comment": "x = 1  # the «model» axis\n",
    "a code in no comment to shardlint": "x = 1  # see «SHL201»\n",
}


@pytest.mark.parametrize("case", NOTHING)
async def test_it_is_silent_about_what_is_not_known(editor: Editor, tmp_path: Path, case: str) -> None:
    text, place = placed(PRELUDE + NOTHING[case])
    assert await Asking(editor, editor.open(tmp_path / "train.py", text), place.start).hover() == ""


async def test_it_tells_of_the_text_as_it_is_now(editor: Editor, tmp_path: Path) -> None:
    text, place = placed(PRELUDE + CASES["a spec"][0])
    uri = editor.open(tmp_path / "train.py", text)
    assert "f32[4, 16]" in await Asking(editor, uri, place.start).hover()
    editor.change(uri, 2, text.replace("(8, 16)", "(8, 24)"))
    assert "f32[4, 24]" in await Asking(editor, uri, place.start).hover()
    editor.change(uri, 3, "x = (\n")
    assert await Asking(editor, uri, types.Position(0, 0)).hover() == ""


async def test_a_link_leads_to_the_file_that_makes_the_mesh(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "layout.py").write_text(PRELUDE)
    text, place = placed(PRELUDE.partition("mesh =")[0] + "from layout import mesh\n" + CASES["a spec"][0])
    said = await Asking(editor, editor.open(tmp_path / "train.py", text), place.start).hover()
    assert f"[layout.py:6]({(tmp_path / 'layout.py').as_uri()}#L6)" in said


async def test_a_cell_of_a_notebook(editor: Editor, tmp_path: Path) -> None:
    cell, place = placed('mark = "🧪"; ' + CASES["a spec"][0])
    notebook = Notebook(editor, tmp_path / "train.ipynb", [PRELUDE, cell])
    said = await Asking(editor, notebook.cell(2), place.start).hover()
    assert "f32[4, 16]" in said
    assert f"[train.ipynb cell 2:6]({notebook.cell(1)})" in said


async def test_what_is_more_than_is_told_is_counted(editor: Editor, tmp_path: Path) -> None:
    text, place = placed(
        PRELUDE + "def put(x):\n    return jax.device_put(x, NamedSharding(mesh, «P()»))\n\n"
        "for n in range(1, 8):\n    put(jnp.zeros(n))\n"
    )
    said = await Asking(editor, editor.open(tmp_path / "train.py", text), place.start).hover()
    assert said.count("each device holds") == 4
    assert said.endswith("… and 3 more")
