"""Run a model's abstract init: the user's own function, and their rules for paths.

A separate program, started at the user's request (`report --init`), in a process of its own with limits. It
imports and calls what the request names. No request to the worker of witnesses can do that: the worker
(`__main__` beside this file) neither loads this file and `initialization` nor starts them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # as Python does for a folder that it runs
from witness_protocol import Answer, message_of, serve


def begin() -> Callable[[str], Answer]:
    """Import jax, and return the function that answers a request."""
    import witness_steps
    from initialization import found, temporaries

    def run(line: str) -> Answer:
        """Return each array that ``init`` creates, with its path, and the rules; of a ``step`` temporaries.

        ``traced`` runs it under `jax.eval_shape`, so that nothing is computed. Its exception is an answer
        too.
        """
        request = json.loads(line)
        sys.path[:0] = [root for root in request["roots"] if root not in sys.path]
        try:
            if "step" in request:
                return {"ok": True, "temporaries": temporaries(request)}
            return {"ok": True, **found(request)}
        except witness_steps.Unsupported as reason:
            return {"unsupported": str(reason)}
        except (Exception, SystemExit) as error:
            return {
                "ok": False,
                "exception": type(error).__name__,
                "message": message_of(error),
                "stage": witness_steps.STAGE[0],
                "where": place_of(error, request["roots"]),
            }

    return run


def place_of(error: BaseException, roots: list[str]) -> str | None:
    """Return the innermost line of the project in the error's traceback, as ``file:line``."""
    place, position = None, error.__traceback__
    while position is not None:
        file = position.tb_frame.f_code.co_filename
        inside = any(file.startswith(os.path.join(root, "")) for root in roots)
        if inside and "site-packages" not in file and "dist-packages" not in file:
            place = f"{file}:{position.tb_lineno}"
        position = position.tb_next
    return place


if __name__ == "__main__":
    serve(begin)
