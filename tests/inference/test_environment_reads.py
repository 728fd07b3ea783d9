"""Programs that are evaluated once more with defaults: those that depend on the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardlint.api import source_from_text
from shardlint.inference import InferenceSettings, Noticed, analyze

#: Modules that ask for variables of the environment, each with names that depend on them and that do not.
ASK = "int(os.environ.get('ROWS', '7'))"
MODULES = {
    "a variable": (f"rows = {ASK}\nother = 8\n", "rows", "other"),
    "a function": (f"def count():\n    return {ASK}\ndef other():\n    return 8\n", "count()", "other()"),
    "a variable that a function computes": (
        f"def count():\n    return {ASK}\nrows = count() + 2\nother = 8\n",
        "rows",
        "other",
    ),
    "a class": (f"class Sizes:\n    rows = {ASK}\nclass Other:\n    rows = 8\n", "Sizes.rows", "Other.rows"),
    "an object": (
        f"class Sizes:\n    def __init__(self, rows):\n        self.rows = rows\n"
        f"sizes, other = Sizes({ASK}), 8\nothers = Sizes(8)\n",
        "sizes.rows",
        "others.rows",
    ),
    "an item that is set": (
        f"sizes = {{}}\nothers = {{'rows': 8}}\nsizes['rows'] = {ASK}\n",
        "sizes['rows']",
        "others['rows']",
    ),
    "an item that a function sets": (
        f"sizes, other = {{}}, 8\ndef fill(rows):\n    sizes['rows'] = rows\nfill({ASK})\n",
        "sizes['rows']",
        "other",
    ),
    "an attribute that is set": (
        f"class Sizes:\n    rows = 8\nother = 8\nSizes.rows = {ASK}\n",
        "Sizes.rows",
        "other",
    ),
    "a global": (
        f"rows, other = 8, 8\ndef fill():\n    global rows\n    rows = {ASK}\nfill()\n",
        "rows",
        "other",
    ),
    "a branch": (
        f"other = 8\nif {ASK} == 7:\n    rows = 7\nelse:\n    rows = 8\n",
        "rows",
        "other",
    ),
    "a default of a parameter": (
        f"def count(rows={ASK}):\n    return rows\ndef other():\n    return 8\n",
        "count()",
        "other()",
    ),
    "a closure": (
        f"def counter(rows):\n    return lambda: rows\ncount = counter({ASK})\nothers = counter(8)\n",
        "count()",
        "others()",
    ),
    "an object that it does not ask for": (
        f"class Sizes:\n    def __init__(self):\n        self.rows = {ASK}\nother = 8\n",
        "Sizes().rows",
        "other",
    ),
}
#: Modules between that and the program; ``{0}`` stands for the name.
BETWEEN = {
    "none": "",
    "an import": "from asking import *\nimport asking\n",
    "a computation": "import asking\nvalue = asking.{0}\n",
    "a function": "import asking\ndef value():\n    return asking.{0}\n",
}
#: A module, and what a module that asks may set in it or in JAX.
TABLE = "sizes, rows = {}, 8\ndef fill(count):\n    global rows\n    rows = count\n"
SETTINGS = (
    f"table.sizes['rows'] = {ASK}\n",
    f"table.fill({ASK})\n",
    f"table.rows = {ASK}\n",
    f"jax.config.update('jax_num_cpu_devices', {ASK})\n",
    f"jax.set_mesh(jax.make_mesh(({ASK},), ('data',)))\n",
)
PROGRAM = """import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
{imports}
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
def place(axis):
    return jax.device_put(jnp.ones(({rows}, 16)), NamedSharding(mesh, P("data", axis)))
"""


def _asked(
    folder: Path, program: str, *, defaults: bool = False, devices: int | None = 8
) -> tuple[bool, list[str]]:
    noticed = Noticed()
    source = source_from_text(str(folder / "program.py"), program)
    uses = analyze([source], InferenceSettings(devices=devices, defaults=defaults), noticed)
    return noticed.asks_defaults, [repr(use) for use in uses]


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("module", MODULES)
def test_what_depends_on_the_environment_is_evaluated_with_defaults(
    module: str, between: str, tmp_path: Path
) -> None:
    text, *names = MODULES[module]
    (tmp_path / "asking.py").write_text(f"import os\n{text}")
    for name, depends in zip(names, (True, False), strict=True):
        (tmp_path / "between.py").write_text(BETWEEN[between].format(name))
        direct = between in ("none", "an import")
        where = "asking" if between == "none" else "between"
        value = f"{where}.{name}" if direct else "between.value" + "()" * (between == "a function")
        program = PROGRAM.format(imports=f"import asking, {where}", rows=value)
        asks, base = _asked(tmp_path, program)
        _, again = _asked(tmp_path, program, defaults=True)
        assert asks or (again == base and not depends)
        # A statement that imports depends as a whole.
        assert asks == depends or between == "an import"


def test_what_a_module_sets_for_all_is_evaluated_with_defaults(tmp_path: Path) -> None:
    for text in SETTINGS:
        (tmp_path / "asking.py").write_text(f"import os, jax, table\n{text}")
        (tmp_path / "table.py").write_text(TABLE)
        program = PROGRAM.format(imports="import asking, table", rows="table.sizes.get('rows', 8)")
        asks, _ = _asked(tmp_path, program, devices=None)
        assert asks, text
