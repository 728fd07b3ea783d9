"""A project in which everything that a finding can come from lies in another file, and ways to check it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_SHARDING = "import jax, jax.numpy as jnp\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n"

#: main → layers → sizes → names: the mesh, the axis and the size are three imports away.
FILES = {
    "pyproject.toml": '[project]\nname = "x"\n[tool.shardlint]\nextend-exclude = ["left_out"]\n'
    '[tool.shardlint.logical-axes]\nfile = "rules.yml"\nkey = "rules"\n',
    "rules.yml": "rules:\n  - [embed, model]\n",
    ".gitignore": "ignored.py\n",
    "main.py": f"{_SHARDING}"
    "from layers import mesh, place, WIDTH\n"
    'place(jnp.ones((8, WIDTH)), NamedSharding(mesh, P("data", "model")))\n',
    "layers.py": "import jax\nfrom sizes import WIDTH, mesh\n\ndef place(x, sharding):\n"
    "    return jax.device_put(x, sharding)\n",
    "sizes.py": "import numpy as np, jax\nfrom jax.sharding import Mesh\nfrom names import AXES\n"
    "WIDTH = 62\nmesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), AXES)\n",
    "names.py": 'AXES = ("data", "model")\n',
    "pkg/tool.py": "SIZE = 8\n",
    "uses_pkg.py": f"{_SHARDING}"
    "from sizes import mesh\nfrom pkg.tool import SIZE\n"
    'jax.device_put(jnp.ones((SIZE, 3)), NamedSharding(mesh, P("data")))\n',
    "flax_rules.py": "import jax, jax.numpy as jnp, flax.linen as nn\nfrom sizes import mesh\n\n\n"
    "class Model(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
    '        init = nn.with_logical_partitioning(nn.initializers.ones_init(), ("embed", None))\n'
    "        return nn.Dense(6, kernel_init=init)(x)\n\n\n"
    'def place(params):\n    spec = jax.sharding.PartitionSpec("embed")\n'
    "    return nn.logical_to_mesh_sharding(spec, mesh)\n\n\n"
    '@jax.jit\ndef f(x):\n    return nn.with_logical_constraint(x, ("embed", None), mesh=mesh)\n\n\n'
    "f(jnp.ones((6, 4)))\n",
    "deep/inner/run.py": f"{_SHARDING}from layers import mesh, place, WIDTH\n"
    'place(jnp.ones((8, WIDTH)), NamedSharding(mesh, P(None, "model")))\n',
    "plain.py": "import os\n\n\ndef path(x):\n    return os.path.join(x, 'a')\n",
    "wide.py": "import layers\n\nTEXT = 'nothing here'\n",
}


def written(folder: Path) -> Path:
    """Write the project into a folder."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def checked(folder: Path, *options: str, format: str = "json") -> tuple[int, str]:
    """Check a folder in this process; return the exit code and what was printed."""
    import contextlib
    import io

    from shardlint.cli.commands import main
    from shardlint.inference.programs.module_loader import forget

    forget()
    before = os.getcwd()
    out, said = io.StringIO(), io.StringIO()
    try:
        os.chdir(folder)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            code = main(["check", ".", "--output-format", format, *options])
    finally:
        os.chdir(before)
    return code, out.getvalue() + said.getvalue()


def codes(text: str) -> list[tuple[str, str]]:
    """The files and codes of findings in JSON."""
    found: list[dict[str, Any]] = json.loads(text)
    return [(one["path"], one["code"]) for one in found]


def process(folder: Path, *options: str, **more: Any) -> subprocess.Popen[str]:
    """Start a check in a process of its own."""
    command = [sys.executable, "-m", "shardlint", "check", ".", "--output-format", "json", *options]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )
