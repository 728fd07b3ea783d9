"""The configurations that hydra gives programs, of random folders of YAML files, beside hydra's."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from configuration_oracle import RAISES, Counts, compare, evaluated
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf
from support.checking import check
from support.sizes import size

from shardlint.api import Linter, Settings
from shardlint.model.findings import Severity
from shardlint.source.sources import read_source

PROGRAM = """
import hydra
{before}
@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    probe("cfg", cfg)

main()
"""
GROUPS = ("db", "model", "model/opt")


def real(folder: Path) -> Any:
    """Return the configuration that hydra composes, `RAISES` if it refuses to."""
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(version_base=None, config_dir=str(folder / "conf")):
            return compose("config")
    except Exception:
        return RAISES


def random_values(rng: random.Random) -> dict[str, Any]:
    """Return contents of a file."""
    values: dict[str, Any] = {
        key: rng.choice(
            (1, 2.5, "x", None, True, [1, 2], "${a}", "${db.a}", "${..b}", {"c": 3, "d": "${.c}"})
        )
        for key in rng.sample("abcde", rng.randint(0, 3))
    }
    if rng.random() < 0.15:
        values[rng.choice(("db", "model"))] = {"a": 9, "opt": {"b": 4}}
    return values


def random_defaults(rng: random.Random, group: str) -> list[Any] | None:
    """Return a list of defaults for a file in a group ("" for the primary one); None for none."""
    if rng.random() < (0.7 if group else 0.1):
        return None
    inner = [name for name in GROUPS if not group or name.startswith(f"{group}/")]
    found: list[Any] = []
    for name in rng.sample(inner, rng.randint(0, len(inner))):
        relative = name.removeprefix(f"{group}/") if group else name
        package = rng.choice(("", "", "", f"@{rng.choice(('_global_', 'p', 'p.q', '_global_.r'))}"))
        option = rng.choice(("one", "two", "two", "gone", ["one", "two"], None))
        word = rng.choice(("", "", "", "optional "))
        found.append({f"{word}{rng.choice(('', '', '/'))}{relative}{package}": option})
    if rng.random() < 0.2:
        found.append(rng.choice(("base", "other/base", "base@p", "/base")))
    if rng.random() < 0.15:
        found.append({"override hydra/job_logging": "disabled"})
    if rng.random() < 0.6:
        found.insert(rng.randint(0, len(found)), "_self_")
    return found


def write(rng: random.Random, folder: Path) -> None:
    """Write a random folder of configurations."""
    names = {"": ("config", "base"), "other": ("base",), **dict.fromkeys(GROUPS, ("one", "two"))}
    for group, files in names.items():
        for name in files:
            contents = random_values(rng)
            defaults = random_defaults(rng, group) if name in ("config", "one") else None
            if defaults is not None:
                contents = {"defaults": defaults, **contents}
            header = rng.choice(
                ("", "", "", "", "# @package _global_\n", "# @package h\n", "# @package _group_\n")
            )
            path = folder / "conf" / group / f"{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = OmegaConf.to_yaml(OmegaConf.create(contents)) if contents else ""
            path.write_text((header if name != "config" or rng.random() < 0.2 else "") + text)


def test_random_folders_are_composed_as_hydra_does(tmp_path: Path) -> None:
    rng, counts, known = random.Random(13), Counts(), 0
    total = size("SHARDLINT_HYDRA", 150, 1500)
    for number in range(total):
        folder = tmp_path / str(number)
        write(rng, folder)
        theirs = real(folder)
        found = evaluated(PROGRAM.format(before=""), folder / "program.py").get("cfg")
        compare(found, theirs, counts, str(folder))
        known += theirs is not RAISES
    assert known > total / 4
    assert counts.known > 4 * counts.unknown, counts


STORED = """
from dataclasses import dataclass, field
from typing import Any
from hydra.core.config_store import ConfigStore

@dataclass
class Model:
    width: int = 8
    rate: float = 1

@dataclass
class Deep(Model):
    depth: int = 4

@dataclass
class Config:
    defaults: list[Any] = field(default_factory=lambda: [{"model": "deep"}, "_self_"])
    rows: int = 7
    model: Any = None

cs = ConfigStore.instance()
cs.store(name="schema", node=Config)
cs.store(group="model", name="deep", node=Deep)
cs.store(name="plain", node={"rows": 3, "model": {"width": 2}})
"""
#: The primary configuration of a program that stores others.
PRIMARIES = (
    "defaults: [schema, _self_]\nrows: 5\n",
    "defaults: [_self_, schema]\nrows: 5\n",
    "defaults: [schema]\nmodel: {width: 5}\n",
    "defaults: [schema]\nrows: 2.5\n",
    "defaults: [plain]\nrows: x\n",
    "defaults: [plain, {model: deep}]\n",
    "defaults: [{model: deep}]\nmodel: {rate: 3}\n",
    "defaults: [{model: deep}]\nmodel: {nothing: 3}\n",
    "defaults: [{model@other: deep}]\nrows: ${other.width}\n",
)


@pytest.mark.parametrize("text", PRIMARIES)
def test_what_a_program_stores_is_merged_as_hydra_does(text: str, tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").write_text(text)
    ConfigStore.instance().repo = {}
    exec(compile(STORED, "program.py", "exec", dont_inherit=True), {"__name__": "__main__"})
    theirs, counts = real(tmp_path), Counts()
    found = evaluated(PROGRAM.format(before=STORED), tmp_path / "program.py").get("cfg")
    compare(found, theirs, counts, text)
    if theirs is RAISES:
        assert not counts.known


PLACING = """
import hydra
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from hydra.utils import instantiate

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))

class Model:
    def __init__(self, width, axis="model"):
        self.width, self.axis = width, axis

@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    model = instantiate(cfg.model)
    jax.device_put(jnp.ones((cfg.rows, model.width)), NamedSharding(mesh, P(cfg.axis, model.axis)))

if __name__ == "__main__":
    main()
"""


def test_a_program_is_judged_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "conf" / "model").mkdir(parents=True)
    program, config = tmp_path / "program.py", tmp_path / "conf" / "config.yaml"
    program.write_text(PLACING)
    linter = Linter(Settings(root=str(tmp_path), devices=8))

    def findings() -> list[tuple[str, Severity, str]]:
        found = linter.check_source(read_source(str(program)))
        return [(f.code, f.severity, f.message.partition("(with ")[2]) for f in found]

    (tmp_path / "conf" / "model" / "small.yaml").write_text("_target_: __main__.Model\nwidth: 8\n")
    config.write_text("defaults: [{model: small}]\nrows: 7\naxis: data\n")
    assert findings() == [("SHL202", Severity.WARNING, "the default rows=7)")]
    config.write_text("defaults: [{model: small}]\nrows: 8\naxis: data\n")
    assert findings() == []
    config.write_text("defaults: [{model: small}]\nrows: 8\naxis: dta\n")
    assert findings() == [("SHL103", Severity.WARNING, "the default axis=dta)")]
    config.unlink()
    assert findings() == []


def test_a_file_outside_of_the_project_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("rows: 7\n")
    (tmp_path / "project").mkdir()
    for name in ("../secret.yaml", str(tmp_path / "secret.yaml")):
        text = f"from omegaconf import OmegaConf\nprobe('rows', OmegaConf.load({name!r}))\n"
        counts = Counts()
        compare(evaluated(text, tmp_path / "project" / "program.py")["rows"], {}, counts)
        assert counts == Counts(0, 1)


def test_a_program_without_its_files_is_not_judged() -> None:
    assert not [f for f in check(PLACING) if f.severity is not Severity.INFO]
