"""Whoever writes to the worker reaches nothing but its recipes and its list of functions.

The requests here do not come from shardlint: they are what somebody would send who controls all of it.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("jax")

from shardlint.confirm.child_process import fake_environment
from shardlint.confirm.connection import WORKER

#: What runs the user's program on purpose, which the worker never loads.
APART = ("compiling", "initialization", "initializer", "topology")
MODULES = sorted(path for path in WORKER.glob("*.py") if path.stem not in APART)


class Worker:
    """The worker over its real protocol, in a folder in which nothing may appear."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=fake_environment(2),
            text=True,
        )
        assert self.read()["ready"]

    def ask(self, line: str) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self.read()

    def read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the worker is gone"
        return json.loads(line)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = Worker(tmp_path_factory.mktemp("worker"))
    yield worker
    worker.close()


def call(*data: Any, **fields: Any) -> dict[str, Any]:
    given = {"kind": "call", "call": list(data), "context": None, "in_jit": False, "manual": []}
    return {**given, **fields}


def placement(**fields: Any) -> dict[str, Any]:
    mesh = {"names": ["x"], "sizes": [2], "types": ["Auto"], "abstract": False}
    given = {"kind": "placement", "api": "device_put", "mesh": mesh, "spec": {"entries": ["x"]}, "shape": [2]}
    return {**given, "raw": False, "context": None, "held": None, "check": False, **fields}


def shapes(**fields: Any) -> dict[str, Any]:
    given = {"kind": "shapes", "name": "jax.numpy.cov", "args": [["operand", 0]], "kwargs": []}
    return {**given, "operands": [[[4, 4], "float32", False, None]], "mesh": None, **fields}


#: Leaves a file where the worker works, if it is ever executed.
CODE = "open('canary', 'w').close()"
IMPORTED = "__import__('pathlib').Path('canary').touch()"
NAMES = [
    CODE,
    IMPORTED,
    "os.system",
    "jax.os.system",
    "builtins.eval",
    "builtins.exec",
    "numpy.save",
    "numpy.load",
    "jax.numpy.save",
    "jax.numpy.load",
    "jax.numpy.__builtins__",
    "jax.numpy.add.__globals__",
    "jax.pure_callback",
    "jax.debug.callback",
    "jax.numpy.vectorize",
    "jax.__loader__.load_module",
    "subprocess.run",
    "importlib.import_module",
    "flax.nnx.Module.__subclasses__",
    "operator.attrgetter",
    "getattr",
    "eval",
    "__import__",
    "",
    "jax",
    "jax.",
    ".",
    "jax.numpy",
    "jax.numpy.add ",
    "jax.numpy.add\n",
    "a class.__bases__",
    "Mesh.__class__",
    "jax.Array.__class__",
    "jax.Array.__reduce__",
    "at[].__class__",
    "NamedSharding.__init__",
    "pathlib:Path.touch",
    "initializer",
]
KEYWORDS = [
    f"devices={CODE} or None, q",
    f"devices={IMPORTED}",
    "__class__",
    "*",
    "**",
    "a b",
    "",
    "lambda",
    "self",
    "compiler_options",
    "in_shardings=1, out",
    "\n",
    "\ud800",
]
MAKE_MESH: Any = ([["tuple", 2], ["tuple", "x"]], [])
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    1 << 4000,
    1e308,
    float("nan"),
    float("inf"),
    "",
    CODE,
    "\0",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    ["call"],
    ["call", "jax.numpy.add"],
    ["call", "jax.numpy.add", {}, {}],
    ["tuple", ["tuple", None]],
    {"junk": CODE},
    ["operand", 0],
    ["operand", True],
    ["operand", 1 << 70],
    ["function", ["operand", 7]],
    ["array", [1 << 40, 1 << 40], "float32", True],
    ["array", [-1], "float32", True],
    ["array", [2], "O", True],
    ["array", [2], f"i4,{CODE}", True],
    ["device", -1],
    ["device", 99],
    ["devices", [0, "1"], None],
    ["mesh", ["x"], [1 << 62], ["Auto"], False],
    ["mesh", [1], ["x"], 3, 4],
    ["mesh", ["x"], [2], ["__class__"], False],
    ["spec", [["spec", [], [], []]], [], []],
    ["constant", "jax.os"],
    ["constant", "__builtins__"],
    ["constant", ["list"]],
    ["bytes", "\u20ac"],
    ["complex", "1", "2"],
    ["slice", 1],
    ["dict", 1, 2],
    ["dict", ["tuple", ["list"], 1]],
    ["set", ["list"]],
    ["apply", ["constant", "jax.numpy.add"], [1, 2], []],
    ["apply", ["call", "[]", [["list"], 0], []], [], []],
    ["apply", ["call", "jax.jit", [["function", 0]], [["compiler_options", ["dict"]]]], [], []],
]
REQUESTS: list[Any] = [
    *(call("call", name, [CODE], []) for name in NAMES),
    *(call("constant", name) for name in NAMES),
    *(call("apply", ["call", name, [["function", 0]], []], [1], []) for name in NAMES),
    *(call("call", "jax.numpy.add", [["constant", name], 1], []) for name in NAMES),
    *(call("call", "jax.make_mesh", MAKE_MESH[0], [[keyword, 3]]) for keyword in KEYWORDS),
    *(call("call", "jax.jit", [["function", 0]], [[keyword, ["dict"]]]) for keyword in KEYWORDS),
    *(call("call", "jax.numpy.add", [odd, odd], []) for odd in ODD),
    *(call("call", "jax.numpy.add", odd, odd) for odd in ODD),
    *(call("call", "jax.make_mesh", MAKE_MESH[0], odd) for odd in ODD),
    *(call("call", odd, [], []) for odd in ODD),
    *({**call(), "call": odd} for odd in ODD),
    *(call("call", "jax.make_mesh", *MAKE_MESH, context=odd, in_jit=odd, manual=odd) for odd in ODD),
    *({"kind": "reference", "name": name, "from_import": True} for name in (*NAMES, *KEYWORDS)),
    *({"kind": "reference", "name": odd} for odd in ODD),
    *({"kind": odd, "init": CODE} for odd in ODD),
    *(
        {"kind": name, "code": CODE, "init": "os:system", "roots": [".", "/"]}
        for name in ("program", "init", "exec")
    ),
    *(placement(spec={"junk": odd}) for odd in ODD),
    *(placement(spec={"entries": [odd, {"junk": odd}]}) for odd in ODD),
    *(placement(mesh=odd) for odd in ODD),
    *(placement(api=odd) for odd in (*NAMES, *ODD)),
    *(placement(shape=odd) for odd in ODD if odd != [1 << 40]),
    *({"kind": "mapped", "mesh": odd, "operands": odd, "out": odd, "check": odd, "body": odd} for odd in ODD),
    *({"kind": "traced", "mesh": odd, "operands": odd, "body": odd} for odd in ODD),
    *(
        {"kind": "arity", "mesh": odd, "given": odd, "due": odd, "arguments": 1, "shard_map": 1}
        for odd in ODD
    ),
]
REQUESTS += [
    *(shapes(name=name) for name in (*NAMES, *ODD)),
    *(shapes(args=odd) for odd in ODD),
    *(shapes(args=[odd, ["list", odd], ["dict", [odd, odd]]]) for odd in ODD),
    *(shapes(args=[["operand", 0], ["constant", name]]) for name in NAMES),
    *(shapes(kwargs=odd) for odd in ODD),
    *(shapes(kwargs=[[keyword, 1]]) for keyword in KEYWORDS),
    *(shapes(kwargs=[["rowvar", odd]]) for odd in ODD),
    *(shapes(operands=odd) for odd in ODD),
    *(shapes(operands=[odd]) for odd in ODD),
    *(shapes(operands=[[odd, "float32", False, None]]) for odd in ODD),
    *(shapes(operands=[[[4, 4], odd, odd, odd]]) for odd in ODD),
    *(shapes(mesh=odd) for odd in ODD),
    *(shapes(mesh=[["x"], [2], ["Explicit"]], operands=[[[4, 4], "float32", False, odd]]) for odd in ODD),
    *(shapes(mesh=[["x"], [odd], [odd]]) for odd in ODD),
    *(shapes(name="jax.numpy.linalg.matrix_power", args=[["operand", 0], odd]) for odd in ODD),
]
LINES = [
    *(
        "",
        "{",
        "null",
        "3",
        '"x"',
        "[" * 50_000,
        "[" * 900 + "]" * 900,
        '{"kind": ' + "9" * 10_000 + "}",
        "\0",
    ),
    *('{"kind": "call", "call": ' + '["tuple", ' * n + "1" + "]" * n + "}" for n in (10, 900, 5_000)),
    "NaN",
    '{"kind": "call", "kind": "call"}',
    "import os",
    CODE,
]


def is_answer(answer: Any) -> bool:
    return answer.get("ok") in (True, False) or isinstance(answer.get("unsupported"), str)


def test_hostile_requests_are_answered_and_reach_nothing(worker: Worker) -> None:
    for request in REQUESTS:
        assert is_answer(worker.ask(json.dumps(request))), request
    assert not list(worker.folder.iterdir())


def test_no_name_leads_out_of_the_list(worker: Worker) -> None:
    for name in NAMES:
        for request in (
            call("call", name, [], []),
            call("constant", name),
            {"kind": "reference", "name": name},
            shapes(name=name),
            shapes(args=[["operand", 0], ["constant", name]]),
        ):
            assert "unsupported" in worker.ask(json.dumps(request)), request


def test_what_is_no_request_is_answered(worker: Worker) -> None:
    for line in LINES:
        assert is_answer(worker.ask(line)), line[:80]


def test_a_keyword_is_data(worker: Worker) -> None:
    """It reaches the function, which does not know it."""
    for keyword in (f"devices={CODE} or None, q", "a b", "*"):
        answer = worker.ask(json.dumps(call("call", "jax.make_mesh", MAKE_MESH[0], [[keyword, 3]])))
        assert answer["exception"] == "TypeError"


TAGS = [
    "tuple",
    "list",
    "set",
    "frozenset",
    "dict",
    "slice",
    "constant",
    "spec",
    "sharding",
    "array",
    "struct",
    "devices",
    "device",
    "operand",
    "function",
    "call",
    "apply",
    "mesh",
    "bytes",
    "complex",
]
FUNCTIONS = [
    "jax.numpy.add",
    "[]",
    "2 +",
    "a context",
    "a class",
    "jax.jit",
    "jax.vmap",
    "jax.make_mesh",
    "scan",
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.floats()
    | st.sampled_from([*NAMES, *KEYWORDS, *FUNCTIONS])
)
DATA = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda tag, parts: [tag, *parts], st.sampled_from(TAGS), st.lists(inner, max_size=4))
        | st.builds(
            lambda f, a, k: ["call", f, a, k],
            st.sampled_from(FUNCTIONS),
            st.lists(inner, max_size=3),
            st.lists(st.tuples(st.sampled_from(KEYWORDS), inner), max_size=2),
        )
        | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=2)
    ),
    max_leaves=12,
)


@given(data=DATA, jitted=st.booleans())
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, *HealthCheck]
)
def test_any_data_are_answered(worker: Worker, data: Any, jitted: bool) -> None:
    assert is_answer(worker.ask(json.dumps({**call(), "call": data, "in_jit": jitted})))
    assert is_answer(worker.ask(json.dumps(placement(spec={"junk": data}))))
    assert is_answer(worker.ask(json.dumps(shapes(args=[data], kwargs=[["ddof", data]]))))
    assert not list(worker.folder.iterdir())


#: What makes code of text, or runs another program.
MAKES_CODE = {
    *("exec", "eval", "compile", "__import__", "globals", "vars", "resolve_name", "run_path", "run_module"),
    *("literal_eval", "exec_module", "system", "runpy", "pkgutil", "subprocess", "pickle", "marshal", "ast"),
    *APART,
}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_the_worker_has_nothing_that_makes_code_of_text(module: Path) -> None:
    nodes = list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    # What JAX has lowered is compiled by a method.
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)} - {"compile"}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
    assert not names & MAKES_CODE


def test_modules_are_imported_by_names_that_stand_in_the_worker() -> None:
    """`import_module` is called for names of its own tables alone, in one module."""
    using = [module.name for module in MODULES if "import_module" in module.read_text(encoding="utf-8")]
    assert using == ["witness_names.py"]
