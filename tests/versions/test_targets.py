"""Targets: which releases a text means, what a project requires, and what a range makes of findings."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from support.checking import check
from support.sizes import FULL

from shardlint.api import Linter, Settings, editing, load_settings, source_from_text
from shardlint.engine.analyzer import Analyzer
from shardlint.engine.releases import ReleaseResults
from shardlint.engine.work_item import Analyzed
from shardlint.laws.core.values import AxisType, Mesh
from shardlint.laws.versions import NEWEST, RELEASES, Release, TargetError, parse_target, spans_text
from shardlint.model.findings import Severity
from shardlint.rules import all_rules


def found(program: str, target: str) -> list[tuple[str, Severity]]:
    return [(finding.code, finding.severity) for finding in check(program, target=target)]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("0.10.2", "0.10.2", "0.10.2"),
        ("0.7", "0.7.0", "0.7.2"),
        (">=0.6,<0.9", "0.6.0", "0.8.3"),
        (">=0.4.20", "0.4.35", str(NEWEST)),
        ("<0.8", "0.4.35", "0.7.2"),
        ("<=0.7.1", "0.4.35", "0.7.1"),
        (">0.7.1, <0.8.1", "0.7.2", "0.8.0"),
        ("~=0.7.1", "0.7.1", "0.7.2"),
        ("^0.6.1", "0.6.1", "0.6.2"),
        ("==0.7.*", "0.7.0", "0.7.2"),
        (">=0.6,!=0.7.0", "0.6.0", str(NEWEST)),
        (">=0.99", str(NEWEST), str(NEWEST)),
        ("0.3", "0.4.35", "0.4.35"),
    ],
)
def test_what_a_target_means(text: str, low: str, high: str) -> None:
    target = parse_target(text)
    assert (target.low, target.high) == (Release.parse(low), Release.parse(high))
    assert target.beyond is (text in (">=0.99", "0.3"))


@pytest.mark.parametrize("text", ["", "new", ">=0.9,<0.6", "0.7 or 0.8"])
def test_what_is_no_target(text: str) -> None:
    with pytest.raises(TargetError):
        parse_target(text)


def test_spans_of_releases() -> None:
    assert spans_text(RELEASES) == f"0.4.35 to {NEWEST}"
    assert spans_text([RELEASES[0], RELEASES[1], RELEASES[3]]) == "0.4.35 to 0.4.36, 0.4.38"


@pytest.mark.parametrize(
    ("project", "target"),
    [
        ('[project]\ndependencies = ["numpy", "jax>=0.6.1,<0.8"]', ">=0.6.1,<0.8"),
        (
            '[project]\ndependencies = ["jaxtyping>=0.2", "JAX[cuda12] ~= 0.7.1 ; os_name > \'a\'"]',
            "~=0.7.1",
        ),
        ('[project.optional-dependencies]\ngpu = ["jax[cuda12]==0.8.3"]', "0.8.3"),
        ('[dependency-groups]\ndev = ["pytest", {include-group = "x"}, "jax<0.6"]', "<0.6"),
        ('[tool.poetry.dependencies]\njax = {version = "^0.7", extras = ["cuda"]}', "^0.7"),
        ('[project]\ndependencies = ["jax"]', None),
        ('[project]\ndependencies = ["jax @ https://example.org/jax.whl"]', None),
        ("[project]\ndependencies = 3", None),
        ('[project]\ndependencies = ["jax<0.8"]\n[tool.shardlint]\ntarget-jax = "0.9.0"', "0.9.0"),
        ("not toml at all [", None),
    ],
)
def test_the_target_is_what_the_project_requires(tmp_path: Path, project: str, target: str | None) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "pyproject.toml").write_text(project)
    if target is None and "[" not in project[:1]:
        return
    settings = load_settings(str(tmp_path / "sub" / "a.py"))
    assert settings.target_jax == (None if target is None else parse_target(target))


@pytest.mark.parametrize(
    ("files", "target"),
    [
        ({"requirements.txt": "numpy\n  jax[tpu]==0.6.2  # the cluster's\n"}, "0.6.2"),
        ({"requirements.txt": "jax==0.7.1 \\\n    --hash=sha256:00\n"}, "0.7.1"),
        ({"requirements.txt": "# jax==0.7.1\njax\n-r more.txt\njaxlib==0.7.1\n"}, None),
        (
            {"setup.py": 'setup(install_requires=["numpy", "jax>=0.7,<0.8"])\n'},
            "0.7",
        ),
        (
            {"setup.py": "# 'jax==0.5.0'\nrequires = ['jax']\nextra = {'tpu': ['jax[tpu] >= 0.9']}\n("},
            ">=0.9",
        ),
        (
            {
                "setup.py": 'def key(line):\n    """Example: \'jax[tpu]==0.8.0\' -> \'jax\'"""\n'
                "    print(\"not 'jax==0.8.1'\")  # 'jax==0.8.2'\n",
                "requirements.txt": "jax==0.11.0\n",
            },
            "0.11.0",
        ),
        ({"setup.cfg": "[options]\ninstall_requires =\n  numpy\n  jax~=0.8.1; os_name > 'a'\n"}, "~=0.8.1"),
        ({"setup.cfg": "[options.extras_require]\ntpu =\n  jax[tpu]<0.6\n"}, "<0.6"),
        ({"setup.cfg": "no section\n[[", "requirements.txt": "jax==0.6.2"}, "0.6.2"),
        ({"pyproject.toml": "[tool.ruff]", "setup.py": "r = ['jax==0.8.1']"}, "0.8.1"),
        (
            {"pyproject.toml": "[project]\ndependencies = ['jax>0.8']", "requirements.txt": "jax==0.9.0"},
            ">0.8",
        ),
        (
            {
                "pyproject.toml": '[tool.setuptools.dynamic]\ndependencies = {file = ["deps/base.txt"]}',
                "deps/base.txt": "jax==0.10.1",
            },
            "0.10.1",
        ),
        ({"pyproject.toml": "", "jax/version.py": '_version = "0.8.1"\n'}, "0.8.1"),
        ({"requirements.txt": "jax==0.6.2", "sub/requirements.txt": "jax==0.7.1"}, "0.7.1"),
        ({"requirements.txt": "jax==0.6.2", "sub/pyproject.toml": "[project]\nname = 'a'"}, None),
        ({"requirements.txt": "jax==0.2.12"}, "0.2.12"),
        ({"requirements.txt": "jax[cuda12]==0.6.2 -f https://example.org/wheels.html"}, "0.6.2"),
        ({"environment.yml": "dependencies:\n- python=3.11\n- jax=0.6.2\n"}, "0.6.2"),
        ({"environment.yml": "dependencies: [python, conda-forge::jax=0.7.1=cpu_0]"}, "0.7.1"),
        ({"environment.yaml": "dependencies:\n- pip:\n  - jax[tpu]==0.8.1 -f here\n"}, "0.8.1"),
        ({"environment.yml": "dependencies: [jax>=0.6]"}, ">=0.6"),
        ({"environment.yml": "dependencies: [jax, jaxlib=0.6.2, pip: 7, {pip: [1, jaxopt==0.8]}]"}, None),
        ({"environment.yml": "- jax==0.6.2"}, None),
        ({"environment.yml": "dependencies: [jax==0.6.2"}, None),
    ],
)
def test_other_files_that_state_requirements_count(
    tmp_path: Path, files: dict[str, str], target: str | None
) -> None:
    (tmp_path / ".git").mkdir()
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    settings = load_settings(str(tmp_path / "sub" / "a.py"))
    assert settings.target_jax == (None if target is None else parse_target(target))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["pipe", ".", "\\u0000", "x" * 5000, "/dev/zero"])
def test_a_requirement_file_that_is_none_is_not_read(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "pyproject.toml").write_text(f'[tool.setuptools.dynamic]\ndependencies = {{file = "{name}"}}')
    assert load_settings(str(tmp_path / "a.py")).target_jax is None


SET_MESH = """
import jax
mesh = jax.sharding.Mesh(jax.devices(), ("x",))
with jax.set_mesh(mesh):
    pass
"""


@pytest.mark.parametrize(
    ("target", "severities"),
    [
        ("0.10.2", []),
        ("0.6.2", [Severity.ERROR]),
        (">=0.5,<0.7.1", [Severity.ERROR]),
        (">=0.5", [Severity.WARNING]),
    ],
)
def test_an_error_is_what_every_release_rejects(target: str, severities: list[Severity]) -> None:
    assert [f.severity for f in check(SET_MESH, target=target) if f.code == "SHL803"] == severities


def test_on_an_unknown_release_errors_are_of_what_never_changed(tmp_path: Path) -> None:
    program = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((8,), ("x",), axis_shapes=(8,))
other = jax.make_mesh((8,), ("x",))
jax.device_put(jnp.ones(9), NamedSharding(other, P("x")))
NamedSharding(other, P(3))
"""
    known = dict(found(program, str(NEWEST)))
    assert set(known.values()) == {Severity.ERROR}
    unknown = dict(found(program, ">=0.99"))
    assert unknown.keys() == known.keys()
    assert {code for code, severity in unknown.items() if severity is Severity.ERROR} == {"SHL202"}
    (tmp_path / "program.py").write_text(program)
    (note,) = Linter(Settings(target_jax=parse_target(">=0.99"))).check_paths([str(tmp_path)]).notes
    assert f"newer than {NEWEST}" in note
    old = "import jax\nfrom jax.experimental import maps\njax.tree_multimap\njax.tree_map\njax.set_mesh\n"
    assert {*dict(found(old, "0.4.35"))} == {"SHL801", "SHL802", "SHL803"}
    # An older JAX may have what the oldest known one deprecates or lacks, unless it came later.
    assert found(old, "~=0.2.12") == [("SHL803", Severity.WARNING)]
    (note,) = Linter(Settings(target_jax=parse_target("~=0.2.12"))).check_paths([str(tmp_path)]).notes
    assert f"older than {RELEASES[0]}" in note
    assert "program.py" in note


def test_a_warning_says_for_which_releases() -> None:
    (finding,) = check(SET_MESH, target=">=0.6")
    assert finding.message.endswith("since JAX 0.7.1 (on JAX 0.6.0 to 0.7.0)")
    assert finding.releases == parse_target(">=0.6,<0.7.1").releases


@pytest.mark.parametrize(
    "program",
    [
        "import jax\nif hasattr(jax, 'shard_map'):\n    f = jax.shard_map\nelse:\n"
        "    from jax.experimental.shard_map import shard_map as f\n",
        "try:\n    from jax import shard_map\nexcept ImportError:\n"
        "    from jax.experimental.shard_map import shard_map\n",
        "import jax\nif jax.__version_info__ >= (0, 6, 1):\n    f = jax.shard_map\n",
    ],
)
def test_what_a_check_of_versions_guards_is_no_finding(program: str) -> None:
    assert found(program, ">=0.4.35") == []


CONSTRAINED = """
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((8,), ("x",))
@jax.jit
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
f(jnp.ones((8, 8)))
"""


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("0.10.2", [("SHL701", Severity.ERROR)]),
        ("0.9.0", [("SHL701", Severity.ERROR)]),
        ("0.8.0", []),
        ("0.8.3", [("SHL805", Severity.WARNING)]),
        (">=0.8,<0.10", [("SHL805", Severity.WARNING), ("SHL701", Severity.WARNING)]),
    ],
)
def test_the_default_axis_types_are_those_of_the_release(
    target: str, expected: list[tuple[str, Severity]]
) -> None:
    assert found(CONSTRAINED, target) == expected


OLD_SHARD_MAP = "from jax.experimental.shard_map import shard_map\n"


@pytest.mark.parametrize(
    ("target", "codes"), [("0.10.2", ["SHL801"]), ("0.7", []), (">=0.6.1", ["SHL801"]), (">=0.5", [])]
)
def test_a_deprecation_is_said_where_all_releases_have_what_replaces_the_name(
    target: str, codes: list[str]
) -> None:
    assert [code for code, _ in found(OLD_SHARD_MAP, target)] == codes


@pytest.mark.parametrize(
    ("call", "target", "codes"),
    [
        ("jax.shard_map(f, mesh=m, in_specs=P(), out_specs=P(), check_rep=False)", "0.10.2", ["SHL804"]),
        ("jax.shard_map(f, mesh=m, in_specs=P(), out_specs=P(), check_vma=False)", "0.10.2", []),
        ("jax.make_mesh((8,), ('x',), axis_types=(T.Auto,))", "0.10.2", []),
        ("jax.make_mesh((8,), ('x',), auto_axes=('x',))", "0.10.2", ["SHL804"]),
        ("jax.numpy.full((8,), 0.0, out_sharding=P())", "0.10.1", ["SHL803"]),
        ("jax.numpy.full((8,), 0.0, out_sharding=None)", "0.10.2", []),
        ("jax.lax.all_gather(1, 'x', to='reduced')", "0.7.2", ["SHL803"]),
    ],
)
def test_arguments_belong_to_releases(call: str, target: str, codes: list[str]) -> None:
    program = (
        "import jax\nfrom jax.sharding import AxisType as T, Mesh, PartitionSpec as P\n"
        "m = Mesh(jax.devices(), ('x',))\nf = lambda x: x\n" + call + "\n"
    )
    assert [code for code, _ in found(program, target) if code.startswith("SHL8")] == codes


@pytest.mark.parametrize(
    "program",
    [
        "@functools.partial(jax.shard_map, mesh=mesh, in_specs=P('x'), out_specs=P('x'), check_rep=False)\n"
        "def f(x):\n    return x\n",
        "jax.shard_map(abs, mesh=mesh, in_specs=P('x'), out_specs=P('x'), check_rep=False)\n",
        "def f(x, mesh):\n"
        "    @functools.partial(jax.shard_map, mesh=mesh, in_specs=P(), out_specs=P(), check_rep=False)\n"
        "    def g(x):\n        return x\n    return g(x)\n"
        "def h(x, mesh):\n    return f(x, mesh)\n"
        "def k(x, mesh):\n    return f(x + 1, mesh) if x.shape[0] else f(x, mesh)\n",
    ],
)
def test_a_renamed_argument_is_one_mistake(program: str) -> None:
    """What shard_map itself says of the keyword is the same mistake, also where `partial` holds it."""
    head = (
        "import functools, jax\nfrom jax.sharding import PartitionSpec as P\n"
        "mesh = jax.make_mesh((8,), ('x',))\n"
    )
    assert found(head + program, "0.10.2") == [("SHL804", Severity.ERROR)]


#: What depends on the default of a command line.
ROWS = """
import argparse
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=7)
mesh = jax.make_mesh((8,), ("x",))
jax.device_put(jnp.ones(parser.parse_args().rows), NamedSharding(mesh, {spec}("x")))
"""


def test_files_are_evaluated_for_older_releases_only_where_they_may_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The examples of all rules, as files of one project, beside an evaluation of each for each era."""
    sources = [
        source_from_text(f"{rule.code}_{kind}.py", text)
        for rule in all_rules()
        for kind, text in (("bad", rule.bad), ("good", rule.good))
    ][:: 1 if FULL else 5]
    sources += [
        source_from_text("rows.py", ROWS.format(spec="P")),
        source_from_text("new_rows.py", ROWS.format(spec="jax.P")),
    ]
    mesh = Mesh(("data", "model"), (2, 4), (AxisType.AUTO,) * 2)
    settings = Settings(devices=8, target_jax=parse_target(">=0.4.35"), preview=True, meshes=(("pod", mesh),))
    evaluated: list[tuple[bool, bool, bool]] = []

    def findings() -> list[tuple[str, str, int, str, tuple[object, ...] | None]]:
        found = Linter(settings).check_sources(sources)
        return [(f.code, f.span.path, f.span.line, f.message, f.releases) for f in found]

    def always(self: ReleaseResults, key: tuple[str, Mesh | None, bool], release: Release) -> bool:
        evaluated.append((key[1] is not None, key[2], differs(self, key, release)))
        return True

    differs = ReleaseResults._may_differ
    few = findings()
    monkeypatch.setattr(ReleaseResults, "_may_differ", always)
    assert few == findings()
    # Some may differ and some not: as they are, on the meshes, and with the defaults of command lines.
    assert {*itertools.product((False, True), (False,), (False, True)), (False, True, False)} <= {*evaluated}


TWO_FILES = {
    "reshard.py": """
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Explicit,))
with jax.set_mesh(mesh):
    jax.sharding.reshard(jnp.ones(8), P(None, None))
""",
    "put.py": """
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Auto,))
jax.device_put(jnp.ones(8), NamedSharding(mesh, P("x", "x")))
""",
}


def test_an_early_end_leaves_open_what_older_releases_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the newest release was judged, an error in a file that may differ on others is none."""
    stop, analyze = editing.Stop(), Linter.analyze_at
    settings = Settings(devices=2, target_jax=parse_target(">=0.9"))
    sources = [source_from_text(name, text) for name, text in TWO_FILES.items()]

    def severities(linter: Linter) -> dict[str, Severity]:
        return {finding.span.path: finding.severity for finding in linter.check_sources(sources)}

    def until_the_first(self: Linter, *args: Any, **kwargs: Any) -> list[Analyzed]:
        results = analyze(self, *args, **kwargs)
        stop.ask()
        return results

    whole = severities(Linter(settings))
    assert whole == {"reshard.py": Severity.WARNING, "put.py": Severity.ERROR}
    monkeypatch.setattr(Linter, "analyze_at", until_the_first)
    assert severities(Linter(settings, analyzer=Analyzer(stop=stop))) == whole
