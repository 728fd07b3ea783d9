"""Program documents are read as their format says, and what they say is compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.document_tests import compare, renewed
from support.documents import Mark, Program, read_programs

PRELUDE = """\
# Title

```python prelude
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("x", "y"))


def put(x, *spec):
    return jax.device_put(x, NamedSharding(mesh, P(*spec)))
```

"""
UNEVEN = "put(jnp.ones(6), 'x')"
RAISED = {
    "classes": ["IndivisibleError", "ValueError"],
    "message": "One of device_put args",
    "lines": [10, 8],
}


def programs(folder: Path, text: str) -> list[Program]:
    (folder / "document.md").write_text(text, encoding="utf-8")
    return read_programs(folder / "document.md")


def one(folder: Path, code: str) -> Program:
    (program,) = programs(folder, f"{PRELUDE}```python\n{code}\n```\n")
    return program


def test_statements_are_programs_of_their_own(tmp_path: Path) -> None:
    block = "f(1)\n# of two\nf(\n    2,\n)  # error: SHL202\n\n@g\ndef f(): pass\nf(3); f(4)\n"
    found = programs(tmp_path, f"```python each\n{block}```\n")
    assert [program.text for program in found] == [
        "f(1)\n",
        "# of two\nf(\n    2,\n)\n",
        "@g\ndef f(): pass\n",
        "f(3); f(4)\n",
    ]
    assert [program.marks for program in found] == [(), (Mark(6, "error", "SHL202"),), (), ()]


def test_preludes_and_settings_hold_in_their_section(tmp_path: Path) -> None:
    def section(level: int, name: str) -> str:
        configured = f'```toml\ntarget-jax = "{name}"\n```\n'
        return (
            f"{'#' * level} {name}\n\n```python prelude\n{name} = 1\n```\n{configured}```python\nuse()\n```\n"
        )

    found = programs(tmp_path, section(1, "a") + section(2, "b") + section(3, "c") + section(2, "d"))
    assert [program.text.replace(" = 1\n\n", ",") for program in found] == [
        "a,use()\n",
        "a,b,use()\n",
        "a,b,c,use()\n",
        "a,d,use()\n",
    ]
    assert [len(program.settings) for program in found] == [1, 2, 3, 2]
    assert [program.heading for program in found] == ["a", "b", "c", "d"]


def test_comments_stand_behind_a_line_or_above_it(tmp_path: Path) -> None:
    behind = one(tmp_path, f"{UNEVEN}  # error: SHL202 Its message  # jax: ValueError")
    above = one(tmp_path, f"# error: SHL202 Its message\n# jax: ValueError\n{UNEVEN}")
    assert behind.text == above.text
    assert [(m.kind, m.name, m.message) for m in behind.marks] == [
        ("error", "SHL202", "Its message"),
        ("jax", "ValueError", ""),
    ]
    assert [m.line - behind.start for m in behind.marks] == [0, 0]
    assert [m.line - above.start for m in above.marks] == [2, 2]


WRONG, OTHER = ["not so: error", "not said: error"], ["not so: jax", "not said: jax"]
SAYS_SO: list[tuple[str, dict[str, Any] | None, list[str]]] = [
    (f"{UNEVEN}  # error: SHL202  # jax: IndivisibleError", RAISED, []),
    (f"{UNEVEN}  # error: SHL202 dimension 0 of `x`…  # jax: IndivisibleError One of", RAISED, []),
    ("put(jnp.ones(8), 'x')", None, []),
    ("raise OSError  # missed: IndivisibleError", RAISED, []),
    (f"{UNEVEN}  # jax: IndivisibleError", RAISED, ["not said: error"]),
    (f"{UNEVEN}  # error: SHL202", RAISED, ["not said: jax"]),
    (f"{UNEVEN}  # error: SHL202", None, ["an error"]),
    (f"{UNEVEN}  # error: SHL202  # jax: ValueError", RAISED, OTHER),
    (f"{UNEVEN}  # error: SHL203  # jax: IndivisibleError", RAISED, WRONG),
    (f"{UNEVEN}  # warning: SHL202  # jax: IndivisibleError", RAISED, ["not so: warning", "not said: error"]),
    (f"{UNEVEN}  # error: SHL202 dimension 1…  # jax: IndivisibleError", RAISED, WRONG),
    (f"{UNEVEN}  # error: SHL202  # jax: IndivisibleError Two", RAISED, OTHER),
    (f"# error: SHL202\npass\n{UNEVEN}  # jax: IndivisibleError", RAISED, WRONG),
    ("put(jnp.ones(8), 'x')  # error: SHL202", None, ["not so: error"]),
    ("raise OSError  # jax: IndivisibleError", RAISED, ["not so: jax", "not said: missed"]),
    ("raise OSError", RAISED, ["not said: missed"]),
]  # fmt: skip


@pytest.mark.parametrize(("code", "outcome", "differences"), SAYS_SO)
def test_what_a_document_says_is_compared(
    code: str, outcome: dict[str, Any] | None, differences: list[str], tmp_path: Path
) -> None:
    program = one(tmp_path, code)
    shift = {} if outcome is None else {"lines": [len(program.lines), 8]}
    said = compare(program, outcome and outcome | shift)
    assert len(said) == len(differences), said
    for line, difference in zip(said, differences, strict=True):
        kind, _, name = difference.partition(": ")
        assert line.startswith(kind), said
        assert f"# {name}:" in line or not name, said


def test_a_document_is_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "support.document_tests.jax_raises",
        lambda programs: {text: RAISED if "6" in text else None for text in programs},
    )
    path = tmp_path / "document.md"
    long = f"put(jnp.ones(6), 'x')  # {'long' * 20}"
    each = f"put(jnp.ones(8), 'x')  # warning: SHL202\n# error: SHL202\n{UNEVEN}  # error: SHL203\n{long}\n"
    path.write_text(f"{PRELUDE}```python each\n{each}```\nThe end.\n", encoding="utf-8")
    marks = "# error: SHL202  # jax: IndivisibleError"
    assert renewed(path) == (
        f"{PRELUDE}```python each\nput(jnp.ones(8), 'x')\n{UNEVEN}  {marks}\n{marks}\n{long}\n```\nThe end.\n"
    )


def test_comments_name_releases(tmp_path: Path) -> None:
    program = one(
        tmp_path, f"{UNEVEN}  # error[>=0.4]: SHL202  # jax[>=0.4]: IndivisibleError  # error[<0.4]: SHL9"
    )
    assert compare(program, RAISED) == []
    assert renewed_marks(program) == [
        "# error[>=0.4]: SHL202",
        "# jax[>=0.4]: IndivisibleError",
        "# error[<0.4]: SHL9",
    ]


def renewed_marks(program: Program) -> list[str]:
    return [mark.comment for mark in sorted(program.marks, key=lambda mark: not mark.holds)]
