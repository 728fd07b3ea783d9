"""Code actions that accept a finding, in a file or in the baseline, and those that write another size."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_actions import actions_at, after, chosen
from lsp_editor import PRELUDE, Editor, codes, eventually, marked
from lsprotocol import types

UNEVEN = "x = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P(None, «'model'»)))\n"


@pytest.mark.parametrize("head", ["", "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n"])
async def test_a_rule_is_ignored_in_the_file(modern_editor: Editor, tmp_path: Path, head: str) -> None:
    text, place = marked(head + PRELUDE + UNEVEN)
    uri = modern_editor.open(tmp_path / "train.py", text)
    action = await chosen(modern_editor, await actions_at(modern_editor, uri, place), "in this file")
    ignored = f"{head}# shardlint: ignore-file[SHL202] say why\n{text.removeprefix(head)}"
    assert after(action, uri, text) == ignored
    modern_editor.change(uri, 2, ignored)
    assert codes(await modern_editor.pull(uri)) == []


async def test_a_rule_is_added_to_those_that_the_file_ignores(modern_editor: Editor, tmp_path: Path) -> None:
    text, place = marked("# shardlint: ignore-file[SHL601] large\n" + PRELUDE + UNEVEN)
    uri = modern_editor.open(tmp_path / "train.py", text)
    action = await chosen(modern_editor, await actions_at(modern_editor, uri, place), "in this file")
    assert after(action, uri, text) == text.replace("[SHL601]", "[SHL601, SHL202]")


@pytest.mark.parametrize(
    ("made", "size", "others"),
    [
        ("jnp.zeros((8, 10))", "10", ("8", "12")),
        ("jnp.ones(shape=[2, 2050])", "2050", ("2048", "2052")),
        ("jnp.zeros((8, 5 * 2))", "10", ()),
    ],
)
async def test_the_named_sizes_are_written(
    modern_editor: Editor, tmp_path: Path, made: str, size: str, others: tuple[str, ...]
) -> None:
    text, place = marked(PRELUDE + UNEVEN.replace("jnp.zeros((8, 10))", made))
    uri = modern_editor.open(tmp_path / "train.py", text)
    actions = await actions_at(modern_editor, uri, place)
    sizes = [action for action in actions if f" for {size}" in action.title]
    assert [after(action, uri, text) for action in sizes] == [
        text.replace(made, made.replace(size, other)) for other in others
    ]
    for number, other in enumerate(others):
        modern_editor.change(uri, 2 + number, text.replace(made, made.replace(size, other)))
        assert codes(await modern_editor.pull(uri)) == []


async def test_a_finding_is_added_to_the_baseline(connected: Editor, tmp_path: Path) -> None:
    baseline = tmp_path / "known.json"
    (tmp_path / "shardlint.toml").write_text('baseline = "known.json"\n')
    baseline.write_text('{"version": 1, "findings": []}\n')
    await connected.start(pulls=True, modern=True, folders=[tmp_path])
    text, place = marked(PRELUDE + UNEVEN)
    uri = connected.open(tmp_path / "train.py", text)
    assert codes(await connected.pull(uri)) == ["SHL202"]
    action = await chosen(connected, await actions_at(connected, uri, place), "Add to the baseline")
    assert action.command is not None
    refreshes = connected.diagnostic_refresh_count
    await connected.workspace_execute_command_async(
        types.ExecuteCommandParams(action.command.command, arguments=action.command.arguments)
    )
    assert "SHL202" in baseline.read_text()
    assert codes(await connected.pull(uri)) == []
    await eventually(lambda: connected.diagnostic_refresh_count > refreshes)
    baseline.write_text('{"version": 1, "findings": []}\n')
    connected.files_changed(baseline)
    assert codes(await connected.pull(uri)) == ["SHL202"]


async def test_a_baseline_elsewhere_is_left_alone(connected: Editor, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "known.json").write_text('{"version": 1, "findings": []}\n')
    (folder / "shardlint.toml").write_text('baseline = "../known.json"\n')
    await connected.start(pulls=True, modern=True, folders=[folder])
    text, place = marked(PRELUDE + UNEVEN)
    uri = connected.open(folder / "train.py", text)
    titles = [action.title for action in await actions_at(connected, uri, place)]
    assert not [title for title in titles if "baseline" in title]
