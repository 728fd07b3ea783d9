"""The choice of an interpreter that no untrusted workspace can influence."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

from shardlint.api import editing


def found(named: str | None, shunned: Sequence[str]) -> str:
    """Return the interpreter for a name or path; for None, the one that runs this.

    A name is looked up on ``PATH``, except in folders inside the shunned ones, and in relative ones, whose
    meaning depends on the working directory.
    """
    python = named or sys.executable
    if not shunned or os.path.dirname(python):
        return os.path.abspath(python) if os.path.dirname(python) else python
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    ours = [one for one in folders if os.path.isabs(one) and not editing.leads_into(one, shunned)]
    return shutil.which(python, path=os.pathsep.join(ours)) or python


def refusal(python: str, shunned: Sequence[str]) -> str | None:
    """Return the reason why an interpreter is not run, None if it may be."""
    _, environment = editing.home_of(python)
    if not os.path.isabs(python):
        return f"there is no {python} outside of the workspace, which is not trusted (option `trusted`)"
    if editing.leads_into(python, shunned):
        return f"the workspace is not trusted, and {python}, which lies in it, is not run (option `trusted`)"
    if editing.leads_into(environment.get("home", os.sep), shunned):
        return f"the workspace is not trusted, and {python} is made from one in it (option `trusted`)"
    return None
