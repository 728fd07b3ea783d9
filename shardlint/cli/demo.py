"""The command `demo`: a small program with mistakes, what is said of it, and what to do next."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from dataclasses import replace

from shardlint.cli.check import CLEAN, FAILED

#: The name that the program has; no such file is written or read.
_NAME = "demo.py"
_PROGRAM = """\
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

embed = jax.device_put(jnp.zeros((32000, 512)), NamedSharding(mesh, P("model", "data")))
query = jax.device_put(jnp.zeros((512, 512)), NamedSharding(mesh, P(None, "modle")))
head = jax.device_put(jnp.zeros((512, 32001)), NamedSharding(mesh, P(None, "model")))
cache = jax.device_put(jnp.zeros((16384, 2048)), NamedSharding(mesh, P()))


@jax.shard_map(mesh=mesh, in_specs=P("data", "model"), out_specs=P("data"))
def loss(x):
    return x.mean(axis=1)


loss(jnp.ones((64, 512)))
"""
#: The line of the array whose layout is drawn.
_DRAWN = 7
#: JAX's sentences are cut here, so that all fits one screen.
_MOST_WORDS = 76
_NEXT = """\
What next:
  shardlint src              check your own code; it is read, never run
  shardlint src --confirm    have your JAX confirm each finding, on fake CPU devices
  shardlint explain {code:<8} what a code means, with an example and its repair
  shardlint layout FILE      draw what each device holds of a file's arrays
"""


def demo(options: argparse.Namespace) -> int:
    """Show what shardlint says of a program; 2 if JAX is there and does not confirm all of it."""
    from shardlint.api import Linter, source_from_text
    from shardlint.config import CommandLine, Configurations
    from shardlint.model.findings import Confirmation
    from shardlint.output import layout
    from shardlint.output.formats import full
    from shardlint.output.formats.concise import summary
    from shardlint.output.progress import ProgressBar
    from shardlint.output.terminal_styles import styles_for

    linter = Linter(Configurations(CommandLine((), True, {})).of("."))
    source = source_from_text(_NAME, _PROGRAM)
    styles, write = styles_for(sys.stdout), sys.stdout.write
    report = linter.check_unsaved(source)
    asked = options.python is not None or importlib.util.find_spec("jax") is not None
    if asked:
        with ProgressBar() as progress:
            report = linter.confirm(report, options.python, progress)
    lines = _PROGRAM.splitlines()
    shown = [
        replace(finding, related=(), confirmation_detail=_short(finding.confirmation_detail))
        for finding in report.findings
    ]
    write(full.render(shown, lambda span: lines, styles, asked=asked))
    drawn = [
        found
        for use in linter.uses([source])
        if isinstance(use, layout.LAID_OUT) and (found := layout.layout_of(use)) is not None
    ]
    write(layout.render([one for one in drawn if one.span.line == _DRAWN], styles))
    write(f"\n{summary(report.findings, 1)}\n")
    for note in report.notes:
        write(f"{note}\n")
    if not asked:
        write("JAX is not installed here: with it, each finding would be confirmed.\n")
    write("\n" + _NEXT.format(code=report.findings[0].code))
    confirmed = all(finding.confirmation is Confirmation.CONFIRMED for finding in report.findings)
    return CLEAN if confirmed or not asked else FAILED


def _short(detail: str | None) -> str | None:
    """Return the beginning of what JAX says, in whole words."""
    if detail is None or len(detail) <= _MOST_WORDS:
        return detail
    return f"{detail[:_MOST_WORDS].rpartition(' ')[0]} ..."
