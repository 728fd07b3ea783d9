"""What an editor and files say of the configuration counts as soon as it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsp_editor import Editor, codes, eventually
from lsprotocol import types

TEXT = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
layout = NamedSharding(mesh, P("dta"))
bias = P(())
"""
BOTH = ["SHL103", "SHL105"]


def told(editor: Editor, settings: Any) -> None:
    """Say to what the settings changed, as an editor that is not asked for them does."""
    editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=settings))


async def test_settings_that_are_sent(connected: Editor, tmp_path: Path) -> None:
    await connected.start()
    uri = connected.open(tmp_path / "a.py", TEXT)
    before = codes(await connected.report(uri))
    assert "SHL103" in before
    told(connected, {"shardlint": {"settings": {"ignore": ["SHL103"]}}})
    await eventually(lambda: "SHL103" not in codes(connected.published[-1].diagnostics))
    told(connected, {"settings": {"severity": {"SHL105": "info"}}})
    await eventually(lambda: codes(connected.published[-1].diagnostics) == before)
    told(connected, {"enable": False})
    await eventually(lambda: connected.published[-1].diagnostics == ())


async def test_the_severity_is_what_the_configuration_says(editor: Editor, tmp_path: Path) -> None:
    text = TEXT.replace('P("dta")', 'P("data")') + "x = 1  # shardlint: ignore[SHL202]\n"
    (tmp_path / "shardlint.toml").write_text('[severity]\nunused-suppression = "info"\n')
    found = await editor.report(editor.open(tmp_path / "a.py", text))
    (unused,) = [one for one in found if one.code == "SHL012"]
    assert unused.severity == types.DiagnosticSeverity.Information


async def test_settings_that_are_asked_for(connected: Editor, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    connected.set_configuration({"settings": {"ignore": ["SHL1"]}}, section="shardlint")
    connected.set_configuration(
        {"shardlint": {"settings": {"select": ["SHL103"]}}}, scope_uri=(tmp_path / "two").as_uri()
    )
    await connected.start(pulls=True, modern=True, folders=[tmp_path / "one", tmp_path / "two"])
    one = connected.open(tmp_path / "one" / "a.py", TEXT)
    two = connected.open(tmp_path / "two" / "a.py", TEXT)
    await eventually(lambda: connected.diagnostic_refresh_count)
    assert codes(await connected.pull(one)) == []
    assert codes(await connected.pull(two)) == ["SHL103"]
    refreshes = connected.diagnostic_refresh_count
    connected.set_configuration({}, section="shardlint")
    connected.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    await eventually(lambda: connected.diagnostic_refresh_count > refreshes)
    assert "SHL103" in codes(await connected.pull(one))
    assert codes(await connected.pull(two)) == ["SHL103"]


async def test_a_file_that_is_named(connected: Editor, tmp_path: Path) -> None:
    (tmp_path / "strict.toml").write_text('ignore = ["SHL103"]\n')
    (tmp_path / "shardlint.toml").write_text('select = ["SHL103"]\n')
    await connected.start(options={"configuration": "strict.toml"}, folders=[tmp_path])
    uri = connected.open(tmp_path / "a.py", TEXT)
    assert "SHL103" not in codes(await connected.report(uri))


async def test_a_bad_setting_is_named_and_leaves_the_others(connected: Editor, tmp_path: Path) -> None:
    await connected.start()
    uri = connected.open(tmp_path / "a.py", TEXT)
    before = codes(await connected.report(uri))
    told(connected, {"settings": {"slect": ["SHL1"]}})
    await eventually(lambda: connected.messages)
    (message,) = connected.messages
    assert 'unknown key "settings.slect"; did you mean "select"?' in message.message
    told(connected, {"debounce": -1, "devices": 8})
    await eventually(lambda: len(connected.messages) == 2)
    assert "debounce" in connected.messages[-1].message
    assert codes(connected.published[-1].diagnostics) == before


async def test_a_bad_configuration_is_shown_where_it_is_wrong(connected: Editor, tmp_path: Path) -> None:
    await connected.start(pulls=True, modern=True)
    config = tmp_path / "pyproject.toml"
    config.write_text('[tool.shardlint]\nignore = ["SHL103"]\n')
    uri = connected.open(tmp_path / "a.py", TEXT)
    assert "SHL103" not in codes(await connected.pull(uri))
    config.write_text('[tool.shardlint]\n# 🧪\nignroe = ["SHL103"]\n')
    connected.files_changed(config)
    await eventually(lambda: connected.published)
    (published,) = connected.published
    assert published.uri == config.as_uri()
    (diagnostic,) = published.diagnostics
    assert diagnostic.range.start == types.Position(2, 0)
    assert 'did you mean "ignore"' in diagnostic.message
    (message,) = connected.messages
    assert "pyproject.toml:3" in message.message
    # What it said before still counts, and all is well once it is repaired.
    assert "SHL103" not in codes(await connected.pull(uri))
    config.write_text("[tool.shardlint\n")
    connected.files_changed(config)
    await eventually(lambda: len(connected.published) == 2)
    assert connected.published[-1].diagnostics[0].range.start == types.Position(0, 0)
    config.write_text('[tool.shardlint]\nselect = ["SHL103"]\n')
    connected.files_changed(config)
    await eventually(lambda: len(connected.published) == 3)
    assert connected.published[-1].diagnostics == ()
    assert codes(await connected.pull(uri)) == ["SHL103"]
    assert len(connected.messages) == 2
