"""The documents of rules show every cause for which JAX rejects something."""

from __future__ import annotations

from pathlib import Path

import test_messages
from support.document_tests import find
from support.documents import read_programs

from shardlint.laws.core.verdicts import Cause, Rejected


def test_every_cause_of_rejection_is_reported() -> None:
    names = ("operations", "collectives", "shard_map", "../transforms/donated_arrays")
    documents = [Path(__file__).parent / f"{name}.md" for name in names]
    programs = [program for document in documents for program in read_programs(document)]
    found = [finding.use for program in programs for finding in find(program)]
    verdicts = [use.verdict for use in (*found, *(use for use, *_ in test_messages.SAYS)) if use is not None]
    causes = {verdict.cause for verdict in verdicts if isinstance(verdict, Rejected)}
    # A mesh that repeats a name can end JAX's process: `test_repeated_axes` runs those in others.
    assert causes == set(Cause) - {Cause.REPEATED_AXIS}
