"""Texts and options that are wrong: the server says so, and lives."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_editor import PRELUDE, Editor, codes, eventually

MISTAKE = PRELUDE + 'x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P("data", "modle")))\n'


@pytest.mark.parametrize(
    "text",
    [
        PRELUDE + "x = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P(\n",
        PRELUDE + "x = " + "(" * 5_000 + ")" * 5_000 + "\n",
        PRELUDE + "x = " + " + ".join(["1"] * 30_000) + "\n",
    ],
    ids=["syntax error", "nested too deeply", "a sum too long"],
)
async def test_a_text_that_cannot_be_parsed(editor: Editor, tmp_path: Path, text: str) -> None:
    uri = editor.open(tmp_path / "broken.py", text)
    diagnostics = await editor.report(uri, 1)
    assert [code[:4] for code in codes(diagnostics)] == ["SHL0"]
    editor.change(uri, 2, MISTAKE)
    assert codes(await editor.report(uri, 2)) == ["SHL103"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ufeff" + MISTAKE,
        MISTAKE.replace("\n", "\r\n"),
        "x = '\0'\n",
        "\ud800".encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"),
    ],
)
async def test_an_odd_text(editor: Editor, tmp_path: Path, text: str) -> None:
    uri = editor.open(tmp_path / "odd.py", text)
    diagnostics = await editor.report(uri, 1)
    assert ("SHL103" in codes(diagnostics)) == ("modle" in text)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"devices": "eight"}, "devices"),
        ({"device": 8}, "did you mean 'devices'"),
        (["devices"], "initializationOptions"),
    ],
)
async def test_bad_options_leave_the_defaults(
    connected: Editor, tmp_path: Path, options: object, complaint: str
) -> None:
    await connected.start(options=options)
    assert codes(await connected.report(connected.open(tmp_path / "train.py", MISTAKE))) == ["SHL103"]
    (message,) = connected.messages
    assert complaint in message.message


async def test_a_bad_configuration_leaves_the_defaults(connected: Editor, tmp_path: Path) -> None:
    await connected.start()
    (tmp_path / "pyproject.toml").write_text("[tool.shardlint]\nselct = []\n")
    uri = connected.open(tmp_path / "train.py", MISTAKE)
    assert codes(await connected.report(uri, 1)) == ["SHL103"]
    connected.change(uri, 2, MISTAKE + "\n")
    assert codes(await connected.report(uri, 2)) == ["SHL103"]
    await eventually(lambda: connected.messages)
    (message,) = connected.messages
    assert "selct" in message.message


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("[tool.shardlint]\n  selct = []\n", (1, 2, 7), 'unknown key "selct"'),
        (
            '[tool.shardlint]\nignore = [\n "SHL1", "SHL999",\n]\n',
            (2, 10, 16),
            '"ignore": no rule is called "SHL999"',
        ),
        ("[tool.shardlint]\n  select = [] []\n", (1, 2, 16), "Expected newline or end of document"),
    ],
)
async def test_an_error_in_a_configuration_is_marked_where_it_stands(
    connected: Editor, tmp_path: Path, text: str, place: tuple[int, int, int], message: str
) -> None:
    await connected.start()
    (tmp_path / "pyproject.toml").write_text(text)
    await connected.report(connected.open(tmp_path / "train.py", MISTAKE), 1)
    await eventually(lambda: any(one.uri.endswith(".toml") for one in connected.published))
    (published,) = [one for one in connected.published if one.uri.endswith(".toml")]
    (diagnostic,) = published.diagnostics
    found = diagnostic.range
    assert (found.start.line, found.start.character, found.end.character) == place
    assert found.end.line == found.start.line
    assert diagnostic.message.startswith(message) and "pyproject.toml" not in diagnostic.message
    assert "at line" not in diagnostic.message
