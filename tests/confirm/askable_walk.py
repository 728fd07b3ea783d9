"""Trace the calls of `askable_calls.json` under a guard, and print what came of each: JSON lines.

Run as ``python askable_walk.py WORKER CALLS FIRST STEP``: every STEP-th call from the FIRST on. A line has
the function's name, the answer, whether what was traced has effects or calls back, the events by which Python
reached outside of itself, and whether JAX's configuration changed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

#: Beginnings of the names of audit events, besides that of opening a file to write.
OUTSIDE = tuple(
    """
    socket. subprocess. os.system os.exec os.posix_spawn os.fork os.remove os.rename os.mkdir os.rmdir
    os.symlink os.link os.truncate os.chmod os.putenv os.unsetenv shutil. tempfile. urllib. ftplib. http.
    smtplib. webbrowser. builtins.input
    """.split()
)
events: list[str] = []


def audit(event: str, arguments: tuple[Any, ...]) -> None:
    writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
    if writes or event.startswith(OUTSIDE):
        events.append(f"{event} {arguments!r:.80}")


def main(worker: str, calls: str, first: str, step: str) -> None:
    sys.path.insert(0, worker)
    import jax

    import shape_questions

    effects: list[bool] = []

    def guarded(body: Any, *operands: Any) -> None:
        made = jax.make_jaxpr(body)(*operands)
        text = str(made)
        effects.append(bool(made.effects) or "callback" in text or "debug_" in text)

    plain, jax.eval_shape = jax.eval_shape, guarded
    sys.addaudithook(audit)
    with open(calls, encoding="utf-8") as file:
        rows = json.load(file)[int(first) :: int(step)]
    for name, args, kwargs, operands in rows:
        request = {"name": name, "args": args, "kwargs": kwargs, "operands": operands, "mesh": None}
        before = dict(jax.config.values)
        events.clear()
        effects.clear()
        try:
            answer = shape_questions.shapes(request)["result"]
        except Exception as error:
            answer = [type(error).__name__, str(error)[:200]]
        print(json.dumps([name, answer, effects != [False], list(events), before != dict(jax.config.values)]))
    jax.eval_shape = plain


if __name__ == "__main__":
    main(*sys.argv[1:])
