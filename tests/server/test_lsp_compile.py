"""What a program compiles to, in the editor: only when asked, at its lines, and marked once it was edited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsp_asking import Asking
from lsp_editor import Editor, eventually
from lsprotocol import types

from shardlint.ide.compiling import compiled_functions

PROGRAM = (Path(__file__).parents[1] / "data" / "sum_over_an_axis.py").read_text(encoding="utf-8")
PRODUCT = PROGRAM.splitlines().index("    return x @ w")


async def lenses(editor: Editor, uri: str) -> list[tuple[int, str]]:
    found = await editor.text_document_code_lens_async(
        types.CodeLensParams(text_document=types.TextDocumentIdentifier(uri=uri))
    )
    return [(one.range.start.line, one.command.title) for one in found or () if one.command is not None]


async def labels(asking: Asking) -> list[tuple[int, str]]:
    hints = await asking.hints()
    return [(one.position.line, str(one.label)) for one in hints if "⇄" in str(one.label)]


async def compiled(editor: Editor, uri: str) -> Any:
    command = types.ExecuteCommandParams(command="shardlint.compile", arguments=[{"uri": uri}])
    return await editor.workspace_execute_command_async(command)


async def test_a_program_is_compiled_and_its_lines_tell(connected: Editor, tmp_path: Path) -> None:
    await connected.start(pulls=True, modern=True, options={"trusted": True}, folders=[tmp_path])
    path = tmp_path / "fixtures" / "model.py"
    path.parent.mkdir()
    path.write_text(PROGRAM)
    (tmp_path / "shardlint.toml").write_text("")
    uri = connected.open(path, PROGRAM)
    asking = Asking(connected, uri, types.Position(line=PRODUCT, character=15))
    before = await lenses(connected, uri)
    assert [title for _, title in before[1:]] == ["Show what this compiles to"] * 2
    assert await labels(asking) == []
    answer = await compiled(connected, uri)
    assert answer["problem"] is None
    assert answer["said"].startswith("1 program, 1 collective, 12 KiB sent")
    assert "all-reduce" in answer["page"]
    await eventually(lambda: connected.code_lens_refreshes)
    titles = [title for _, title in (await lenses(connected, uri))[1:]]
    assert len(titles) == 2 and all("row: 1 collective, 12 KiB sent by each device" in one for one in titles)
    assert await labels(asking) == [(PRODUCT, "⇄ all-reduce model · 12 KiB")]
    hover = await asking.hover()
    assert "all-reduce over `model`: 12 KiB" in hover
    assert '`P(None, None, unreduced={"model"}) → P(None, None)`' in hover
    # The lines that were not edited are still told of, where they are now.
    connected.change(uri, 2, "# a comment\n" + PROGRAM)
    assert await labels(asking) == [(PRODUCT + 1, "⇄ all-reduce model · 12 KiB (before an edit)")]
    assert (await lenses(connected, uri))[1][1] == "Show what this compiles to (edited since)"
    connected.change(uri, 3, PROGRAM.replace("x @ w", "x @ w * 2"))
    assert await labels(asking) == []
    # What is run is the file.
    assert await compiled(connected, uri) is None
    assert any("save" in message.message for message in connected.messages)


def test_functions_that_are_compiled() -> None:
    text = (
        "@jax.jit\ndef a(): ...\n@partial(jit, static_argnums=0)\ndef b(): ...\ndef c(): ...\n"
        "d = jax.jit(c)\ndef e(): ...\ndef case_f(): ...\ndef case_g(x): ...\n@nnx.jit(donate_argnums=0)\n"
        "def h(): ...\nclass A:\n    def case_i(): ...\n"
    )
    assert compiled_functions(text) == [("a", 2), ("b", 4), ("c", 5), ("case_f", 8), ("h", 11)]
    assert compiled_functions("def case_a(:") == []
