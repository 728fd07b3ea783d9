"""Each file in an editor has the configuration nearest to it, as it is on disk at the moment."""

from __future__ import annotations

from pathlib import Path

from lsp_editor import Editor, codes

MISTAKE = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
layout = NamedSharding(mesh, P("dta"))
"""


async def test_the_nearest_configuration_counts(editor: Editor, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / ".shardlint.toml").write_text('per-file-ignores = { "b.py" = ["correctness"] }\n')
    assert codes(await editor.report(editor.open(tmp_path / "b.py", MISTAKE), 1)) == ["SHL103"]
    assert codes(await editor.report(editor.open(inner / "a.py", MISTAKE), 1)) == ["SHL103"]
    uri = editor.open(inner / "b.py", MISTAKE)
    assert codes(await editor.report(uri, 1)) == []
    (inner / ".shardlint.toml").write_text('select = ["SHL1"]\n')
    editor.change(uri, 2, MISTAKE + "\n")
    assert codes(await editor.report(uri, 2)) == ["SHL103"]
