"""The command `plan`: every mesh over a model's axes, what each device holds, and which chips that fits."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from shardlint.cli import config_options, report_output
from shardlint.cli.check import CLEAN, FAILED, UsageError, complain

if TYPE_CHECKING:
    from shardlint.laws.core.values import Mesh

_DEVICES = "8,16,32,64,128,256,512,1024"
_MOST_DEVICES = 1 << 16


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add the command and the options of its own."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "plan", help="execute a model's init abstractly, and say what each device holds on every mesh"
    )
    parser.add_argument(
        "init",
        nargs="?",
        metavar="MODULE:FUNCTION",
        help="the function that makes the parameters; default: the one in the configuration",
    )
    parser.add_argument("--rules", metavar="MODULE:NAME", help="(regex, spec) pairs for their paths")
    parser.add_argument(
        "--optimizer", metavar="MODULE:NAME", help="an optax transformation, or a function that makes one"
    )
    parser.add_argument(
        "--step",
        metavar="MODULE:FUNCTION",
        help="a function of a mesh that returns jitted.lower(...): compiled to count its temporaries",
    )
    parser.add_argument("--devices", default=_DEVICES, metavar="N,N,...", help=f"default: {_DEVICES}")
    parser.add_argument(
        "--axes", metavar="A,B", help="the mesh axes; default: the configured mesh's, or those of the specs"
    )
    parser.add_argument("--python", metavar="PATH", help="the interpreter that has JAX; default: this one")
    parser.add_argument("--output-format", choices=("text", "json", "html"), default="text")
    parser.add_argument("--output-file", metavar="FILE", help="write it to a file")
    config_options.add_options(parser)
    return parser


def plan(options: argparse.Namespace) -> int:
    """Run the command and return the exit code: 0, or 2 where the init did not run. Raises UsageError."""
    from shardlint.confirm.init_request import InitFailed, abstract_init, step_temporaries
    from shardlint.output.report import plan_page
    from shardlint.output.tables import plans as table
    from shardlint.report.mesh_plans import axes_of, plans_of
    from shardlint.report.project import deployed, import_roots

    devices = _devices(options.devices)
    options.devices = None  # of the configuration's key it says nothing
    settings = config_options.configurations(options).of(".")
    init, rules = options.init or settings.report_init, options.rules or settings.report_rules
    if init is None:
        raise UsageError("nothing says what makes the parameters: shardlint plan package.module:function")
    for name in (init, rules, options.optimizer, options.step):
        if name is not None and not all(part for part in name.partition(":")):
            raise UsageError(f'"{name}" is not written as package.module:name')
    meshes = [named.mesh for named in deployed(settings) if named is not None]
    axes = tuple(one for one in (options.axes or "").split(",") if one)
    on: Mesh | None = meshes[0] if meshes else None
    try:
        made = abstract_init(
            init, rules, on, roots=import_roots(settings), python=options.python,
            timeout=2 * settings.confirm_timeout, optimizer=options.optimizer,
        )  # fmt: skip
    except InitFailed as failure:
        return complain(str(failure))
    axes = axes or axes_of(made, meshes)
    if not axes:
        raise UsageError("no parameter names a mesh axis: --axes data,model")

    def temporaries(meshes: Sequence[Mesh]) -> Iterator[int | str]:
        roots = import_roots(settings)
        return step_temporaries(options.step, meshes, roots=roots, python=options.python)

    found = plans_of(
        init, made, axes, devices, settings.replicated_bytes, settings.logical_rules, options.optimizer,
        options.step, temporaries,
    )  # fmt: skip
    for reason in found.failures:
        complain(reason)
    if options.output_format == "json":
        report_output.put(table.as_json(found), options.output_file)
    elif options.output_format == "html":
        report_output.put(plan_page.render(found), options.output_file)
    elif options.output_file is None:
        table.write(found, sys.stdout)
    else:
        written = io.StringIO()
        table.write(found, written)
        report_output.put(written.getvalue(), options.output_file)
    return CLEAN if found.plans and not found.failures else FAILED


def _devices(text: str) -> list[int]:
    """Return the numbers of devices in a list. Raises UsageError."""
    found = [int(one) for one in text.split(",") if one.strip().isdigit()]
    if not found or len(found) != text.count(",") + 1 or not all(0 < n <= _MOST_DEVICES for n in found):
        raise UsageError(f"--devices {text} is no list of whole numbers, such as 64,256")
    return sorted(set(found))
