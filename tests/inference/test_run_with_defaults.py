"""Programs run without arguments: parsers return what Python's return, JAX raises what is warned of."""

from __future__ import annotations

import argparse

import pytest
from support.checking import check, uses
from support.jax_answers import jax_raises

from shardlint.inference import Noticed
from shardlint.model.findings import Severity
from shardlint.model.origins import origins_in
from shardlint.model.uses import Placement

START = """\
import sys
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

sys.argv = ["program"]
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))

def place(rows, columns=16, axis="model"):
    jax.device_put(jnp.ones((rows, columns)), NamedSharding(mesh, P("data", axis)))
"""

#: What is added to a parser, in order.
ARGUMENTS = (
    '"--a", type=int, default=7',
    '"--a", type=int, default="7"',
    '"--a", default="7"',
    '"-a", type=int',
    '"-a", "--alpha", dest="a", default=3',
    '"-b", "--long-name", default=3, type=float',
    '"--a", action="store_true"',
    '"--a", action="store_false"',
    '"--a", action="store_const", const=4',
    '"--a", action="append", default=[1, 2], type=int',
    '"--a", action="append"',
    '"--a", action="count"',
    '"--a", action="count", default=2',
    '"--a", action=argparse.BooleanOptionalAction, default=True',
    '"--a", nargs="+", type=int, default=[2, 4]',
    '"a", nargs="?", default=5',
    '"a", nargs="*"',
    '"--a", type=lambda text: tuple(int(n) for n in text.split("x")), default="2x4"',
    '"--a", choices=[1, 2], default=2, type=int, help="..."',
    '"--version", action="version", version="1"',
)  # fmt: skip
#: Programs that are run with nothing, and the default that JAX's refusal rests on (None: it is not known,
#: "": JAX refuses nothing).
PROGRAMS = {
    "argparse": (
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--rows', type=int, default=7)\nargs = parser.parse_args()\nplace(args.rows)\n",
        "the default --rows=7",
    ),
    "derived": (
        "import argparse\nparser = argparse.ArgumentParser()\ngroup = parser.add_argument_group('sizes')\n"
        "group.add_argument('-r', '--rows', type=int, default=7)\n"
        "group.add_argument('--times', type=int, default=3)\n"
        "args, rest = parser.parse_known_args()\nplace(args.rows * args.times)\n",
        "the defaults --rows=7 and --times=3",
    ),
    "described": (
        "import argparse\nparser = argparse.ArgumentParser(prog='p', description=__doc__, epilog='',\n"
        "    add_help=False, allow_abbrev=False, formatter_class=argparse.ArgumentDefaultsHelpFormatter)\n"
        "group = parser.add_argument_group(title='sizes', description='of arrays')\n"
        "one = group.add_mutually_exclusive_group(required=False)\n"
        "one.add_argument('--rows', type=int, default=7, help='rows', metavar='N')\n"
        "place(parser.parse_args().rows)\n",
        "the default --rows=7",
    ),
    "fine": (
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--rows', type=int, default=7)\nargs = parser.parse_args()\n"
        "place(args.rows + 1)\n",
        "",
    ),
    "set": (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.set_defaults(rows=7)\n"
        "parser.add_argument('--rows', type=int, default=8)\nplace(parser.parse_args().rows)\n",
        "",
    ),
    "in a function": (
        "import argparse\n\ndef parse(argv=None):\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--axis', default='modle')\n    return parser.parse_args(argv)\n\n"
        "place(8, axis=parse().axis)\n",
        "the default --axis=modle",
    ),
    "environment": (
        "import os\nplace(int(os.environ.get('SHARDLINT_TEST_ROWS', '7')))\n",
        "the default SHARDLINT_TEST_ROWS=7",
    ),
    "getenv": (
        "import os\nplace(8, int(os.getenv('SHARDLINT_TEST_COLUMNS', 10)))\n",
        "the default SHARDLINT_TEST_COLUMNS=10",
    ),
    "environment that is set": (
        "import os\nos.environ['SHARDLINT_TEST_SET'] = '8'\n"
        "place(int(os.environ.get('SHARDLINT_TEST_SET', '7')))\n",
        "",
    ),
    "a branch": (
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--whole', action='store_true')\nargs = parser.parse_args()\n"
        "rows = 8 if args.whole else 7\nplace(rows)\n",
        None,
    ),
    "absl": (
        "from absl import app, flags\nFLAGS = flags.FLAGS\nflags.DEFINE_integer('rows', 7, 'rows')\n"
        "columns = flags.DEFINE_integer('columns', 16, 'columns')\n\n"
        "def main(argv):\n    place(FLAGS.rows, columns.value)\n\ntry:\n    app.run(main)\n"
        "except SystemExit:\n    pass\n",
        "the default --rows=7",
    ),
}  # fmt: skip


def placed(program: str, noticed: Noticed | None = None, defaults: bool = False) -> list[Placement]:
    """Return what a program places."""
    return [use for use in uses(program, noticed, defaults=defaults) if isinstance(use, Placement)]


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_a_parser_returns_what_pythons_does(argument: str) -> None:
    parser = argparse.ArgumentParser()
    eval(f"parser.add_argument({argument})", {"parser": parser, "argparse": argparse})
    values = vars(parser.parse_args([]))
    alike = " and ".join(f"args.{name} == {value!r}" for name, value in values.items())
    program = (
        f"{START}import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument({argument})\n"
        f"args = parser.parse_args()\nplace(6 if {alike or not values} else 7)\n"
    )
    assert [use.shape for use in placed(program, defaults=True)] == [(6, 16)], values
    # An empty list stands for no command line, whatever the program is run with.
    certain = program.replace("parse_args()", "parse_args([])")
    assert [use.shape for use in placed(certain)] == [(6, 16)], values
    known = certain.replace("parse_args", "parse_known_args").replace("args =", "args, _ =")
    assert [use.shape for use in placed(known)] == [(6, 16)], values


def test_jax_raises_what_is_warned_of() -> None:
    programs = {name: START + text for name, (text, _) in PROGRAMS.items()}
    raised = jax_raises(programs)
    for name, (_, told) in PROGRAMS.items():
        findings = [f for f in check(programs[name]) if f.severity is not Severity.INFO]
        assert all(f.severity is Severity.WARNING for f in findings), name
        assert bool(findings) == (raised[name] is not None) == (told != ""), (name, raised[name])
        if told:
            assert findings[0].message.endswith(f"(with {told})"), findings[0].message


#: Arguments of a parser, what is made of them, and whether JAX refuses it whatever integer is given.
INTEGERS = {
    "'--rows', type=int, default=7": {"place(args.rows, axis='x')": True, "place(args.rows)": False},
    "'--rows', type=int, required=True": {
        "jax.device_put(jnp.ones(args.rows), NamedSharding(mesh, P(None, 'data')))": True,
        "jax.device_put(jnp.ones(4 * args.rows), NamedSharding(mesh, P('model')))": False,
        "jax.device_put(jnp.ones(4 * args.rows + 1), NamedSharding(mesh, P('model')))": True,
        "jax.device_put(jnp.ones((3, args.rows)), NamedSharding(mesh, P('data')))": True,
    },
    "'--rows', type=int, default=7, choices=[4, 8]": {"place(args.rows)": False},
    "'--rows', type=int, default=[7], nargs='+'": {"place(args.rows)": False},
    "'--rows', type=int": {"place(args.rows or 4)": False},
    "'--rows', default=7": {"place(int(args.rows))": False},
}


@pytest.mark.parametrize("argument", INTEGERS)
def test_any_integer_may_be_given(argument: str) -> None:
    head = f"{START}import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument({argument})\n"
    for statement, refused in INTEGERS[argument].items():
        programs = {
            rows: f"{head}sys.argv += ['--rows', '{rows}']\nargs = parser.parse_args()\n{statement}\n"
            for rows in ("1", "3", "8")
        }
        program = f"{head}args = parser.parse_args()\n{statement}\n"
        errors = [finding for finding in check(program) if finding.severity is Severity.ERROR]
        assert bool(errors) == refused
        assert not errors or all(jax_raises(programs).values())


def test_what_jax_accepts_is_reported_with_its_defaults() -> None:
    program = (
        f"{START}import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--rows', type=int, default=7)\nargs = parser.parse_args()\n"
        "one = Mesh(np.array(jax.devices()).reshape(args.rows - 6, 8), ('data', 'model'))\n"
        "jax.device_put(jnp.ones((8, 8)), NamedSharding(one, P('data')))\n\n\n"
        "@jax.jit\ndef init():\n    made = jnp.ones((args.rows, 64))\n"
        "    return jax.lax.with_sharding_constraint(made, NamedSharding(mesh, P('model')))\n\n\ninit()\n"
    )
    warned = [finding for finding in check(program) if finding.severity is Severity.WARNING]
    # That an axis has one device by default is no mistake.
    assert [finding.code for finding in warned] == ["SHL205"]
    assert warned[0].message.endswith("(with the default --rows=7)")


def test_without_defaults_nothing_is_assumed() -> None:
    for name, (text, _) in PROGRAMS.items():
        noticed = Noticed()
        assert not origins_in(placed(START + text, noticed))
        assert noticed.asks_defaults, name


def test_a_default_is_a_number_in_any_operation() -> None:
    program = (
        f"{START}import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--rows', type=int, default=7)\n"
        "parser.add_argument('--rate', type=float, default=0.1)\n"
        "args = parser.parse_args()\nmade = jnp.full((args.rows, 16), args.rate) * args.rate + args.rows\n"
        "jax.device_put(jnp.where(made > args.rate, made, args.rows), NamedSharding(mesh, P('data')))\n"
    )
    assert (7, 16) in [use.shape for use in placed(program, defaults=True)]


def test_a_tree_that_is_not_known_is_brought_to_the_host() -> None:
    assert not check(f"{START}import json\njax.device_get({{'a': 1, **json.load(open('x'))}})\n")


def test_absl_runs_its_main_function_whatever_the_flags_are() -> None:
    program = (
        f"{START}from absl import app, flags\nflags.DEFINE_integer('rows', 7, 'rows')\n\n"
        "def main(argv):\n    place(9)\n    place(flags.FLAGS.rows)\n\napp.run(main)\n"
    )
    assert (9, 16) in [use.shape for use in placed(program)]
    errors = [finding for finding in check(program) if finding.severity is Severity.ERROR]
    assert len(errors) == 1 and "size 9" in errors[0].message
