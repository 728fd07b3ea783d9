"""What the commands besides `check` report, of programs whose every name a stranger chose."""

from __future__ import annotations

import io
import json
import re

from hostile_strings import assert_shown, commands, parsers, patient, silent, texts, tokens
from hypothesis import example, given
from hypothesis import strategies as st

from shardlint.confirm.fixtures.results import FixtureTable, Row
from shardlint.cost.values import Buffer, Collective, Compilation, Kind, Memory, Place, Program
from shardlint.laws.core.values import AxisType, Mesh
from shardlint.laws.versions import RELEASES
from shardlint.model.findings import Finding, Severity
from shardlint.model.spans import Span
from shardlint.output.cost import changes, html
from shardlint.output.cost import json as cost_json
from shardlint.output.cost import text as cost_text
from shardlint.output.tables import fixtures, plans
from shardlint.output.terminal_styles import COLOURED, Styles
from shardlint.report.mesh_plans import Plan, Plans
from shardlint.support.media import drawn
from shardlint.upgrade import text as upgrade_text
from shardlint.upgrade.changes import Change, Upgrade
from shardlint.upgrade.changes import Kind as Change_kind

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PAGE = re.compile(r"<script>.*?</script>|<style>.*?</style>|<[^<>]*>", re.S)
some_finding = st.builds(
    lambda path, message, severity: Finding("SHL805", "x", severity, message or "x", Span(path, 1, 1, 1, 2)),
    texts,
    texts,
    st.sampled_from(Severity),
)
places = st.builds(Place, texts, st.integers(1, 3), st.sampled_from([None, 2]))
meshes = st.lists(texts, min_size=2, max_size=2, unique=True).map(
    lambda names: Mesh(tuple(names), (2, 4), (AxisType.AUTO,) * 2)
)


@st.composite
def compilations(draw: st.DrawFn) -> Compilation:
    name, place = draw(texts), draw(st.none() | places)
    collective = Collective(
        name, place, draw(st.sampled_from(Kind)), tuple(draw(st.lists(texts, max_size=2))), 64,
        draw(st.sampled_from([None, 3])), draw(texts), draw(texts), 4, draw(texts),
    )  # fmt: skip
    memory = Memory(1, 2, 3, 6, (Buffer("argument", draw(texts), draw(texts), 8, place),))
    mesh = ((draw(texts), 2),)
    program = Program(name, place, draw(texts), 8, mesh, memory, (collective,) * draw(st.integers(0, 2)))
    return Compilation(draw(texts), (program,), (), tuple(draw(st.lists(texts, max_size=1))), draw(texts))


@patient
@given(compilations(), texts, st.lists(some_finding, max_size=1))
def test_compile(found: Compilation, line: str, findings: list[Finding]) -> None:
    plain = cost_text.render([found], lambda place: line, Styles())
    assert_shown(plain)
    coloured = cost_text.render([found], lambda place: line, COLOURED)
    assert drawn(_COLOUR.sub("", coloured)) == plain
    page = html.render([found], lambda place: line)
    assert_shown(page)
    assert not set(_PAGE.sub("", page)) & set("<>")
    saved = cost_json.render([found])
    assert_shown(saved)
    assert json.loads(saved)["programs"][0]["name"] == found.programs[0].name


@patient
@given(compilations(), texts, st.lists(some_finding, max_size=1))
@example(
    Compilation("a.py", (Program("x|[a](command:b)|`", None, "", 8, (), Memory(1, 1, 1, 3), ()),)), "", []
)
def test_a_comparison_of_compilations(found: Compilation, name: str, findings: list[Finding]) -> None:
    before = {"programs": [{"name": name, "memory": {"peak": 5}}], "collectives": [{"axes": [name]}]}
    written = changes.render(before, [found], findings)
    assert commands(written) == []
    assert silent(written.replace("\n", "")) == []
    for parser in parsers():
        kinds = [token.type for token in tokens(parser, written)]
        assert {"link_open", "image", "html_inline", "html_block"}.isdisjoint(kinds), written
        assert kinds.count("heading_open") == 1
        assert kinds.count("th_open") == 5
        assert kinds.count("td_open") % 5 == 0


@patient
@given(texts, meshes, st.lists(texts, max_size=1))
def test_plan(name: str, mesh: Mesh, problems: list[str]) -> None:
    found = Plans(
        name, mesh.names, (Plan(mesh, 1, 2, 3, tuple(problems)),), ((name, 2, 1),), 8, name, name or None
    )
    stream = io.StringIO()
    plans.write(found, stream)
    assert_shown(stream.getvalue())
    assert_shown(plans.as_json(found))


@patient
@given(st.lists(texts, min_size=6, max_size=6))
def test_run(words: list[str]) -> None:
    path, jax, unit, finding, outcome, disagreement = words
    table = FixtureTable(path, jax, (Row(unit, (finding,), outcome, (disagreement,)),), (disagreement,))
    stream = io.StringIO()
    fixtures.write([table, FixtureTable(path, None, ())], stream)
    assert_shown(stream.getvalue())


@patient
@given(some_finding, texts, texts)
def test_upgrade(finding: Finding, said: str, note: str) -> None:
    one = Change(Change_kind.BREAKS, finding, RELEASES[2], said)
    found = Upgrade(RELEASES[0], RELEASES[-1], [one, one], [note], 2)
    assert_shown(upgrade_text.as_text(found))
    written = upgrade_text.as_json(found)
    assert_shown(written)
    assert json.loads(written)["notes"] == [note]
