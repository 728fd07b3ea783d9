"""Run a fixture so that XLA writes down what it compiles, and compile what the fixture only lowers.

Self-contained: started as ``python compiling.py FOLDER RUNNER [TOPOLOGY]``, with the environment of a
fixture. It runs the fixture runner (``RUNNER``), unchanged, in this process. XLA writes the modules to
``FOLDER``. When the fixture has ended, each ``jitted.lower(...)`` that nobody compiled is compiled, and a
last JSON line tells which of them could not be, and JAX's version.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import runpy
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

FLAGS = "--xla_dump_to={} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=spmd.*"
COUNT = "--xla_force_host_platform_device_count"
#: Whole stacks behind each operation, and every program compiled by this process.
SETTINGS = {"JAX_TRACEBACK_IN_LOCATIONS_LIMIT": "-1", "JAX_ENABLE_COMPILATION_CACHE": "false"}
MESSAGE_LIMIT = 500


class Environment(type(os.environ)):  # type: ignore[misc]
    """The environment, where ``XLA_FLAGS`` keeps our flags behind those that a program sets.

    ``given`` are flags that it had before. Where a program adds to them and says itself how many devices
    there are, it is right: without us it would not have found them.
    """

    flags = ""
    given = ""

    def __setitem__(self, key: str, value: str) -> None:
        if key == "XLA_FLAGS":
            if value.count(COUNT) > 1:
                value = value.replace(self.given, "").replace(self.flags, "")
            value = f"{value} {self.flags}"
        super().__setitem__(key, value)


class Lowerings(importlib.abc.MetaPathFinder):
    """Collects what is lowered and not compiled, from when jax.stages is imported on."""

    def __init__(self) -> None:
        self.left: dict[int, Any] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of jax.stages, so that its class is watched once it is there."""
        if name != "jax.stages":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            loader, execute = spec.loader, spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self.watch(module.Lowered)

            loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def watch(self, lowered: Any) -> None:
        """Note each object of a class when it is made, and forget it when it is compiled."""
        make, compile_ = lowered.__init__, lowered.compile

        def made(one: Any, *arguments: Any, **keywords: Any) -> None:
            make(one, *arguments, **keywords)
            self.left[id(one)] = one

        def compiled(one: Any, *arguments: Any, **keywords: Any) -> Any:
            self.left.pop(id(one), None)
            return compile_(one, *arguments, **keywords)

        lowered.__init__, lowered.compile = made, compiled

    def compile_rest(self) -> list[str]:
        """Compile what is left, and return why some could not be."""
        failed = []
        for one in list(self.left.values()):
            try:
                one.compile()
            except Exception as error:
                lines = str(error).strip().splitlines() or [""]
                failed.append(f"{type(error).__name__}: {lines[0]}"[:MESSAGE_LIMIT])
        return failed


def main() -> None:
    """Run the runner, and then compile the rest."""
    folder, runner, *topology = sys.argv[1:]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.environ.update(SETTINGS)
    Environment.flags = FLAGS.format(folder)
    os.environ.__class__ = Environment
    Environment.given = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = Environment.given
    lowerings = Lowerings()
    sys.meta_path.insert(0, lowerings)
    for name in topology:
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        from topology import stand_in

        # The program has its own modules, perhaps of the names that stand here.
        sys.path.pop(0)
        if (reason := stand_in(name)) is not None:
            out.write(json.dumps({"refused": reason}) + "\n")
            out.flush()
            return
    sys.argv = [runner]
    runpy.run_path(runner, run_name="__main__")
    failed = lowerings.compile_rest()
    jax = sys.modules.get("jax")
    out.write(json.dumps({"uncompiled": failed, "jax": getattr(jax, "__version__", None)}) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
