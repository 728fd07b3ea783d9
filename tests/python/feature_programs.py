"""Random programs that compose features: in functions, classes, loops and around shared, mutated values.

A program holds *probes*, ``_probe(number, "size", expression)``: CPython says what the expression is, and
`ended` puts a call of JAX in its place.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from feature_catalogue import Feature, features

PRELUDE = """\
class Thing:
    def __init__(self, size):
        self.size = size
    def grow(self):
        self.size += 1
        return self.size
"""
#: The variables that every program begins with.
VARIABLES = {
    "rows": "int", "cols": "int", "word": "str", "label": "str", "sizes": "list", "widths": "list",
    "table": "dict", "triple": "tuple", "group": "set", "change": "fn", "stream": "iter", "thing": "obj",
}  # fmt: skip
WORDS = ("a", "ab", "layer", "data", "w", "model", "b_a", "Kernel")
#: Ways to look at a variable of a type.
LOOKS = {
    "int": ("{0}",),
    "bool": ("int({0})", "(3 if {0} else 6)"),
    "str": ("{0}", "{0}", "len({0})", "ord({0}[0]) % 50", "{0}.count('a')"),
    "list": (
        "len({0})",
        "sum({0})",
        "{0}[-1]",
        "{0}[0]",
        "max({0})",
        "{0}",
        "sum(v * i for i, v in enumerate({0}))",
    ),
    "tuple": ("len({0})", "{0}[-1]", "{0}"),
    "dict": ("len({0})", "sum({0}.values())", "{0}", "list({0})[-1]", "{0}.get('k', 2)"),
    "set": ("len({0})", "sum({0})", "sorted({0})"),
    "iter": ("sum({0})", "len(list({0}))", "next(iter({0}), 5)", "list({0})"),
    "fn": ("{0}(3)", "{0}(2) % 61"),
    "obj": ("{0}.size",),
}
Block = tuple[list[str], str]


@dataclass
class Program:
    """A program with probes, and the features that it is made of."""

    text: str
    features: list[str] = field(default_factory=list)


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


class ProgramWriter:
    """Writes one program."""

    def __init__(self, seed: str, chosen: list[Feature] | None = None) -> None:
        self.random = random.Random(seed)
        self.module = self.random.random() < 0.4
        everything = chosen or [
            feature for feature in features().values() if self.module or "module" not in feature.flags
        ]
        self.weights: dict[str, tuple[list[Feature], list[float]]] = {}
        for feature in everything:
            ours, weights = self.weights.setdefault(feature.result, ([], []))
            ours.append(feature)
            weights.append(0.05 if "rare" in feature.flags else 1.0)
        self.all = everything
        self.used: list[str] = []
        self.pool: dict[str, list[str]] = {}
        self.numbers = 0
        self.probes = 0
        self.rebinds = True

    def program(self, steps: int) -> Program:
        """Return a program of so many steps, one probe after some of them, and some at the end."""
        lines = self.start()
        for _ in range(steps):
            lines += self.step()
            if self.random.random() < 0.3:
                lines.append(self.probe(self.random.choice(list(self.pool))))
        for _ in range(self.random.randint(1, 2)):
            lines.append(self.probe(self.random.choice([*self.pool, "int", "list"])))
        return self.finished(lines)

    def alone(self, feature: Feature) -> Program:
        """Return a program of one feature, looked at in every way."""
        self.module |= "module" in feature.flags
        lines = self.start()
        self.probes = self.random.randint(0, 1)
        block, result = self.instance(feature, 9)
        name = self.name("r")
        lines += [*block, f"{name} = {result}"]
        looks = LOOKS[feature.result]
        looks = looks[:1] if feature.result == "iter" else tuple(dict.fromkeys(looks))
        lines += [self.probe_of(look.format(name)) for look in looks]
        return self.finished(lines)

    def start(self) -> list[str]:
        lines = []
        for name, kind in VARIABLES.items():
            lines.append(f"{name} = {self.literal(kind)}")
            self.pool.setdefault(kind, []).append(name)
        return lines

    def finished(self, lines: list[str]) -> Program:
        """Return a program of these lines, without variables that nothing reads."""
        read = set(re.findall(r"\w+", "\n".join(lines[len(VARIABLES) :])))
        start = [line for line in lines[: len(VARIABLES)] if line.partition(" ")[0] in read]
        lines = [*start, *lines[len(VARIABLES) :]]
        if not self.module:
            lines = ["def main():", *indented(lines), "main()"]
        text = "\n".join(lines) + "\n"
        return Program(PRELUDE + text if "Thing(" in text else text, self.used)

    # -- pieces ----------------------------------------------------------------------------

    def name(self, stem: str) -> str:
        self.numbers += 1
        return f"{stem}{self.numbers}"

    def probe(self, kind: str) -> str:
        look = self.random.choice(LOOKS[kind])
        return self.probe_of(look.format(self.random.choice(self.pool[kind])))

    def probe_of(self, expression: str) -> str:
        self.probes += 1
        way = self.random.choice(("size", "size", "size", "equal", "rank", "index", "member", "branch"))
        return f"_probe({self.probes}, {way!r}, {expression})"

    def literal(self, kind: str) -> str:
        draw = self.random
        small = [draw.choice((0, 1, 2, 3, 4, 5, 6, 7, 9, 13, -2)) for _ in range(draw.randint(1, 4))]
        match kind:
            case "int":
                return draw.choice((str(small[0]), str(draw.randint(1, 40))))
            case "nat":
                return str(draw.randint(0, 4))
            case "pos":
                return str(draw.randint(1, 4))
            case "bool":
                return draw.choice(("True", "False", "1 < 2", "not 3"))
            case "str":
                return repr(draw.choice(WORDS))
            case "list":
                return draw.choice((str(small), f"list(range({draw.randint(1, 5)}))"))
            case "tuple":
                return str(tuple(small))
            case "dict":
                return str({"k": small[0], **{draw.choice("abcw"): value for value in small[1:]}})
            case "set":
                return str(set(small))
            case "iter":
                return draw.choice((
                    f"range({draw.randint(1, 5)})", str(small), f"iter({small})", f"(q for q in {small})",
                    f"map(abs, {small})", f"reversed({small})", f"{{'a': {small[0]}, 'b': 2}}.values()",
                ))  # fmt: skip
            case "fn":
                return draw.choice(("abs", f"(lambda v: v + {small[0]})", "(lambda v: v * 2 % 61)"))
        return f"Thing({small[0]})"

    def filled(self, kind: str, depth: int, before: list[str]) -> str:
        """Return an expression for a hole; statements that it needs go to ``before``."""
        if kind.isupper():
            return self.random.choice(self.pool[kind.lower()])
        chance = self.random.random()
        if kind in ("nat", "pos"):
            if chance < 0.6 or depth > 1:
                return self.literal(kind)
            inner = self.filled("int", depth, before)
            return f"(abs({inner}) % 4)" if kind == "nat" else f"(abs({inner}) % 3 + 1)"
        if kind == "iter" and chance < 0.3:
            kind = self.random.choice(("list", "tuple"))
        if chance < 0.5 and (names := self.pool.get(kind)):
            return self.random.choice(names)
        if chance < 0.7 or depth > 1 or kind not in self.weights:
            return self.literal(kind)
        lines, result = self.instance(self.choice(kind), depth + 1)
        before += lines
        if self.random.random() < 0.6:
            name = self.name("v")
            before.append(f"{name} = {result}")
            return name
        return f"({result})"

    def choice(self, kind: str) -> Feature:
        ours, weights = self.weights[kind]
        return self.random.choices(ours, weights)[0]

    def instance(self, feature: Feature, depth: int) -> Block:
        """Return the statements and the expression of a feature whose holes are filled."""
        self.used.append(feature.name)
        self.numbers += 1
        before: list[str] = []
        *lines, result = feature.written(self.numbers, lambda hole: self.filled(hole, depth, before))
        return [*before, *lines], result

    def step(self, depth: int = 0) -> list[str]:
        """Return statements that bind a variable to what a feature makes, perhaps inside something else."""
        wrap = self.random.choice(WRAPPERS) if self.random.random() < 0.4 and depth < 2 else None
        if wrap is None:
            feature = self.random.choices(
                self.all, [0.05 if "rare" in feature.flags else 1.0 for feature in self.all]
            )[0]
            lines, result = self.instance(feature, 0)
            return [*lines, f"{self.bound(feature.result)} = {self.kept(feature.result, result)}"]
        known = {kind: list(names) for kind, names in self.pool.items()}
        rebinds, self.rebinds = self.rebinds, False
        inner: list[str] = []
        for _ in range(self.random.randint(0, 1)):
            inner += self.step(depth + 1)
        feature = self.random.choice(self.all)
        lines, result = self.instance(feature, 0)
        result = self.kept(feature.result, result)
        self.pool, self.rebinds = known, rebinds
        name = self.bound(feature.result)
        return wrap(self, name, [*inner, *lines], result)

    def kept(self, kind: str, result: str) -> str:
        return f"({result}) % 61" if kind == "int" and self.random.random() < 0.3 else result

    def bound(self, kind: str) -> str:
        """Return the variable that takes a result: a new one, or one that has been read."""
        names = self.pool.setdefault(kind, [])
        if self.rebinds and names and self.random.random() < 0.2:
            return self.random.choice(names)
        names.append(self.name(kind[0]))
        return names[-1]


# -- what a step may stand in ----------------------------------------------------------------

Wrapper = Callable[[ProgramWriter, str, list[str], str], list[str]]


def in_function(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    run = writer.name("run")
    return [f"def {run}():", *indented([*lines, f"return {result}"]), f"{name} = {run}()"]


def in_function_twice(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    run = writer.name("run")
    return [f"def {run}(_=0):", *indented([*lines, f"return {result}"]), f"{run}()", f"{name} = {run}(1)"]


def in_method(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    made = writer.name("Made")
    body = ["def run(self):", *indented([*lines, f"return {result}"])]
    return [f"class {made}:", *indented(body), f"{name} = {made}().run()"]


def in_init(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    made = writer.name("Made")
    body = ["def __init__(self):", *indented([*lines, f"self.value = {result}"])]
    return [f"class {made}:", *indented(body), f"{name} = {made}().value"]


def in_class(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    text = "\n".join([*lines, result])
    if any(word in text for word in ("def ", "lambda", " for ")):
        return in_method(writer, name, lines, result)
    made = writer.name("Made")
    return [f"class {made}:", *indented([*lines, f"value = {result}"]), f"{name} = {made}.value"]


def in_loop(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    count = writer.random.randint(1, 3)
    return [f"for {writer.name('i')} in range({count}):", *indented([*lines, f"{name} = {result}"])]


def in_while(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    return ["while True:", *indented([*lines, f"{name} = {result}", "break"])]


def in_try(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    return ["try:", *indented([*lines, f"{name} = {result}"]), "finally:", "    pass"]


def in_handler(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    body = indented([*lines, f"{name} = {result}"])
    return ["try:", "    raise KeyError", "except LookupError:", *body]


def in_with(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    return [
        "import contextlib",
        "with contextlib.suppress(OSError):",
        *indented([*lines, f"{name} = {result}"]),
    ]


def in_branch(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    test = writer.random.choice(("len(sizes) >= 0", "rows == rows", "word or True", "not None"))
    return [f"if {test}:", *indented([*lines, f"{name} = {result}"]), "else:", f"    {name} = None"]


def in_match(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    body = indented([*lines, f"{name} = {result}"])
    return ["match rows:", "    case str():", f"        {name} = None", "    case _:", *indented(body)]


def in_generator(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    run = writer.name("run")
    return [f"def {run}():", *indented([*lines, f"yield {result}"]), f"{name} = next({run}())"]


def in_decorated(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    return ["@lambda f: f()", f"def {name}():", *indented([*lines, f"return {result}"])]


def in_lambda(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    return [*lines, f"{name} = (lambda: {result})()"]


def in_default(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    run = writer.name("run")
    return [*lines, f"def {run}(value={result}):", "    return value", f"{name} = {run}()"]


def in_comprehension(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    return [*lines, f"{name} = [{result} for {writer.name('i')} in range({writer.random.randint(1, 3)})][-1]"]


def in_container(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    held = writer.random.choice(("[{0}][0]", "(0, {0})[1]", "{{'k': {0}}}['k']", "next(iter([{0}]))"))
    return [*lines, f"{name} = {held.format(result)}"]


def in_attribute(writer: ProgramWriter, name: str, lines: list[str], result: str) -> list[str]:
    made = writer.name("made")
    return [*lines, f"{made} = Thing(0)", f"{made}.value = {result}", f"{name} = {made}.value"]


WRAPPERS: tuple[Wrapper, ...] = (
    in_function, in_function_twice, in_method, in_init, in_class, in_loop, in_while, in_try, in_handler,
    in_with, in_branch, in_match, in_generator, in_decorated, in_lambda, in_default, in_comprehension,
    in_container, in_attribute,
)  # fmt: skip


def random_program(seed: str, chosen: list[Feature] | None = None) -> Program:
    """Return the program of a seed, of any features or of a few chosen ones."""
    writer = ProgramWriter(seed, chosen)
    return writer.program(writer.random.randint(1, 7))
