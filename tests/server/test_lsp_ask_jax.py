"""JAX is asked about functions that no overlay knows, if the user wants it and trusts the workspace."""

from __future__ import annotations

import sys
from pathlib import Path

from lsp_editor import PRELUDE, Editor, codes, eventually
from lsprotocol import types

#: What JAX knows the shape of, and shardlint does not: 510 columns.
MADE = 'made = jax.scipy.signal.convolve2d(jnp.ones((16, 512)), jnp.ones((3, 3)), mode="valid")\n'
PLACED = 'jax.device_put(made, NamedSharding(mesh, P("data", "model")))\n'
OPTIONS = {"python": sys.executable, "trusted": True, "askJax": True}


async def test_a_finding_appears_once_jax_has_answered(connected: Editor, tmp_path: Path) -> None:
    await connected.start(pulls=True, modern=True, options=OPTIONS, folders=[tmp_path])
    text = PRELUDE + "import jax.scipy\n" + MADE + PLACED
    uri = connected.open(tmp_path / "train.py", text)
    # The first report waits for no answer.
    assert codes(await connected.pull(uri)) == []
    await eventually(lambda: connected.diagnostic_refresh_count)

    async def found() -> list[str]:
        return codes(await connected.pull(uri))

    for count in range(1, 6):
        if await found():
            break
        await eventually(lambda count=count: connected.diagnostic_refresh_count > count)  # type: ignore[misc]
    (diagnostic,) = await connected.pull(uri)
    assert diagnostic.code == "SHL202"
    assert "510" in diagnostic.message
    told = [one.message for one in diagnostic.related_information or ()]
    assert any("was asked for the shape of jax.scipy.signal.convolve2d" in one for one in told), told
    # It stays while the text is edited, and goes with the mistake.
    connected.change(uri, 2, "# a comment\n" + text)
    assert codes(await connected.pull(uri)) == ["SHL202"]
    connected.change(uri, 3, text.replace('"valid"', '"same"'))
    await connected.pull(uri)
    connected.change(uri, 4, text.replace(PLACED, ""))
    assert codes(await connected.pull(uri)) == []


async def test_in_a_workspace_that_is_not_trusted_nothing_is_asked(connected: Editor, tmp_path: Path) -> None:
    options = {**OPTIONS, "trusted": False}
    await connected.start(pulls=True, modern=True, options=options, folders=[tmp_path])
    (tmp_path / "shardlint.toml").write_text("ask-jax = true\n")
    uri = connected.open(tmp_path / "train.py", PRELUDE + "import jax.scipy\n" + MADE + PLACED)
    assert codes(await connected.pull(uri)) == []
    assert any("not trusted" in message.message for message in connected.messages)
    assert not connected.diagnostic_refresh_count


async def test_a_configuration_alone_asks_nothing(connected: Editor, tmp_path: Path) -> None:
    (tmp_path / "shardlint.toml").write_text("ask-jax = true\n")
    options = {"python": sys.executable, "trusted": True}
    await connected.start(pulls=True, modern=True, options=options, folders=[tmp_path])
    uri = connected.open(tmp_path / "train.py", PRELUDE + "import jax.scipy\n" + MADE + PLACED)
    assert codes(await connected.pull(uri)) == []
    assert not connected.diagnostic_refresh_count
    # Nor does a later setting, which a file of the workspace may hold.
    connected.workspace_did_change_configuration(
        types.DidChangeConfigurationParams(settings={"shardlint": {"askJax": True}})
    )
    connected.change(uri, 2, "# a comment\n" + PRELUDE + "import jax.scipy\n" + MADE + PLACED)
    assert codes(await connected.pull(uri)) == []
