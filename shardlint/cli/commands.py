"""The command line. Heavy libraries are imported only by the commands that need them."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from shardlint import __version__
from shardlint.cli import check as checking
from shardlint.cli import check_edits, config_options, report_output
from shardlint.cli import compile as compiling
from shardlint.cli import demo as demonstrating
from shardlint.cli import explain as explaining
from shardlint.cli import layout as laying
from shardlint.cli import plan as planning
from shardlint.cli import upgrade as upgrading
from shardlint.cli.check import CLEAN, FAILED, FOUND, UsageError, check, complain

if TYPE_CHECKING:
    from shardlint.api import InitReport, Linter, ParameterReport


_EXAMPLES = """examples:
  shardlint demo                       a small program with mistakes, and what is said of it
  shardlint src                        check a folder (short for: shardlint check src)
  shardlint check src --confirm        have the real JAX confirm each finding
  shardlint explain SHL202             what a code means, with an example and its repair
  shardlint layout src/model.py:42     what each device holds of the arrays on line 42

`shardlint COMMAND --help` has the options of a command.
"""
_CHECK_EXAMPLES = """examples:
  shardlint check src notebooks/train.ipynb
  shardlint check src --confirm                    ask the real JAX about each finding
  shardlint check src --diff                       show the safe fixes; --fix applies them
  shardlint check src --mesh data=16,model=16      the mesh, where the code leaves it to its caller
  shardlint check src --select SHL2,SHL3           rules by the beginning of their codes
  shardlint check src -w                           again at each change
  shardlint check src --output-format sarif -o findings.sarif

Exit code: 0 without findings, 1 with errors or warnings, 2 if the check could not be done.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 clean, 1 findings, 2 usage or internal error."""
    _open_streams()
    # Warnings of Python's parser about a file are not shardlint's to report.
    warnings.simplefilter("ignore", SyntaxWarning)
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = make_parser()
    if arguments and arguments[0] not in (*_COMMANDS, "-h", "--help", "-V", "--version"):
        first = arguments[0]
        if not os.path.lexists(first) and (command := _nearest(first, _COMMANDS)):
            parser.error(f"there is no command and no path {first}{command}")
        arguments.insert(0, "check")
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return FAILED
    for stream in (sys.stdout, sys.stderr):
        # File names need not be valid text, and a terminal may lack the characters of a picture.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = _COMMANDS[options.command](options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has closed the pipe.
        report_output.forget_output()
        return FAILED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except (UsageError, report_output.CannotSay) as error:
        return complain(str(error))
    except Exception as error:
        from shardlint.config import ConfigError

        if isinstance(error, ConfigError):
            return complain(str(error))
        if isinstance(error, OSError) and report_output.is_full(error):
            report_output.forget_output()
            return complain(f"standard output cannot be written: {error.strerror}")
        if os.environ.get("SHARDLINT_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}"
        return complain(
            f"internal error: {what}; please report this (SHARDLINT_DEBUG=1 shows where it happened)"
        )


def _open_streams() -> None:
    """Open the null device for each closed standard stream, so that no file takes its descriptor."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115


def _coverage(options: argparse.Namespace) -> int:
    from shardlint.api import Linter
    from shardlint.confirm.asking import Asking
    from shardlint.engine.analyzer import Analyzer
    from shardlint.output.progress import ProgressBar
    from shardlint.output.tables import coverage as coverage_table

    found = config_options.configurations(options)
    settings = found.of(options.paths[0])
    asking = Asking(options.python, None, settings.confirm_timeout, settings.confirm_devices)
    with ProgressBar() as progress, asking:
        linter = Linter(settings, found.of_folder, Analyzer(asking=asking))
        judged = linter.coverage(options.paths, progress)
    asked = asking.counts() if settings.ask_jax else None
    for note in asking.notes_for(settings.target_jax) if settings.ask_jax else ():
        report_output.aside(f"note: {note}")
    if options.output_format == "json":
        sys.stdout.write(coverage_table.as_json(judged, asked))
    else:
        coverage_table.write(judged, sys.stdout, asked)
    return CLEAN


def _report(options: argparse.Namespace) -> int:
    from shardlint.output.progress import ProgressBar
    from shardlint.output.report import html, json, text

    if options.init and ":" not in options.init:
        # `--init PATH`: the configuration names what to run.
        options.paths, options.init = [options.init, *(p for p in options.paths if p != ".")], ""
    linter = _linter(options)
    report: ParameterReport | InitReport
    notes: tuple[str, ...] = ()
    code = CLEAN
    with ProgressBar() as progress:
        if options.init is None and options.rules is None:
            report = linter.report(options.paths, progress)
            notes = report.notes
        else:
            report = linter.init_report(options.init, options.rules, options.python, progress)
            notes, code = report.report.notes, _init_code(report)
    stream = sys.stdout if options.output_file is None else io.StringIO()
    if options.output_format == "text":
        text.write(report, stream)
    else:
        stream.write((json if options.output_format == "json" else html).render(report))
    if isinstance(stream, io.StringIO):
        _write(options.output_file, stream.getvalue())
    for note in notes:
        report_output.aside(f"note: {note}")
    return code


def _write(path: str, text: str) -> None:
    """Write a report to a file."""
    try:
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None


def _init_code(report: InitReport) -> int:
    for failure in report.failures:
        complain(failure)
    if report.failures:
        return FAILED
    return FOUND if any(finding.failing for finding in report.findings) else CLEAN


def _run(options: argparse.Namespace) -> int:
    from shardlint.output.progress import ProgressBar
    from shardlint.output.tables import fixtures

    for path in options.paths:
        if not os.path.exists(path):
            raise UsageError(f"{path} does not exist")
    linter = _linter(options)
    with ProgressBar() as progress:
        tables = linter.run_fixtures(options.paths, options.python, progress)
    fixtures.write(tables, sys.stdout)
    return FOUND if any(table.disagreements for table in tables) else CLEAN


def _server(options: argparse.Namespace) -> int:
    import gc

    from shardlint.support import gc_policy

    # The protocol's thousand classes, and the data that checks use, are permanent.
    gc.disable()
    try:
        from shardlint_server.server import main as serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError(
            f"the server needs {error.name}, which is not installed; "
            'install it with: pip install "shardlint[server]"'
        ) from None
    finally:
        gc_policy.freeze()
        gc.enable()
    given = (("--tcp", options.tcp), ("--python", options.python))
    return serve([part for name, value in given if value is not None for part in (name, value)])


def _linter(options: argparse.Namespace) -> Linter:
    """Return the linter, which uses the nearest configuration for each file."""
    from shardlint.api import Linter

    found = config_options.configurations(options)
    return Linter(found.of(options.paths[0]), found.of_folder)


def _config(options: argparse.Namespace) -> int:
    sys.stdout.write(config_options.show(options))
    return CLEAN


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number above 0, not {text!r}")
    return int(text)


class _Parser(argparse.ArgumentParser):
    """A parser that suggests the nearest option and accepts no abbreviations: a new option could break
    one.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and end with an error at the first unknown option."""
        found, rest = super().parse_known_args(args, namespace)
        wrong = next((one.partition("=")[0] for one in rest if one.startswith("-")), None)
        if wrong is not None:
            options = [one for one in ("--version", *self._option_string_actions) if one != wrong]
            self.error(f"there is no option {wrong}{_nearest(wrong, options)}")
        return found, rest

    def error(self, message: str) -> NoReturn:
        from shardlint.support.media import lines

        self.exit(FAILED, lines(f"{self.prog}: {message}\nTry `{self.prog} --help`.\n"))


def _nearest(word: str, known: Iterable[str]) -> str:
    """Return the end of a message: the likely intended word, if one is near enough."""
    import difflib

    found = difflib.get_close_matches(word, known, n=1, cutoff=0.7)
    return f"; did you mean {found[0]}?" if found else ""


class _Version(argparse.Action):
    """Prints the version and the known releases of JAX, and exits."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from shardlint.laws.versions import NEWEST, OLDEST

        sys.stdout.write(f"shardlint {__version__} (JAX {OLDEST} to {NEWEST})\n")
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = _Parser(
        prog="shardlint",
        description="Finds JAX sharding mistakes before the mesh does.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action=_Version, help="show the version, and which JAX it knows")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    checks = commands.add_parser(
        "check",
        help="check files, folders and notebooks (also: shardlint PATH...)",
        usage="shardlint check [OPTION ...] [PATH ...]",
        epilog=_CHECK_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_path_argument(checks)
    real = checks.add_argument_group("the real JAX")
    real.add_argument(
        "--confirm", action="store_true", help="have JAX run a small program that shows each finding"
    )
    config_options.add_asking(real)
    _add_python(real)
    _add_deployment(checks.add_argument_group("what the code leaves open"))
    check_edits.add_fixes(checks)
    report_output.add_options(checks)
    config_options.add_selection(checks.add_argument_group("rules and files"))
    check_edits.add_known(checks)
    config_options.add_options(checks.add_argument_group("configuration"))
    checking.add_options(checks, _count)
    more = checks.add_argument_group("seldom needed")
    more.add_argument("--show-expected", action="store_true", help="show findings that `# expect` announces")
    more.add_argument(
        "--show-unresolved", action="store_true", help="also note every call of which something is not known"
    )
    more.add_argument(
        "--exhaustive", action="store_const", const=True, help="take no shortcuts: slower, same findings"
    )
    more.add_argument("--stdin-filename", metavar="FILE", help="the name of what is checked with - as path")

    demo = commands.add_parser("demo", help="show what is said of a small program with mistakes")
    _add_python(demo)

    _add_mesh(laying.add_command(commands))

    coverage = commands.add_parser("coverage", help="count what was understood, and say why not the rest")
    _add_paths(coverage)
    config_options.add_asking(coverage)
    _add_python(coverage)
    coverage.add_argument("--output-format", choices=("text", "json"), default="text")

    report = commands.add_parser("report", help="show what each device holds of a project's parameters")
    _add_paths(report)
    report.add_argument(
        "--init",
        nargs="?",
        const="",
        metavar="MODULE:FUNCTION",
        help="execute this function, which makes a model's parameters, and report those instead of what "
        "modules declare; without a value the one in the configuration",
    )
    report.add_argument("--rules", metavar="MODULE:NAME", help="(regex, spec) pairs for their paths")
    _add_python(report)
    report.add_argument("--output-format", choices=("text", "json", "html"), default="text")
    report.add_argument("--output-file", metavar="FILE", help="write the report to a file")

    _add_paths(upgrading.add_command(commands, _count))

    run = commands.add_parser("run", help="execute programs, and compare what JAX does with what is found")
    run.add_argument(
        "paths", nargs="+", metavar="PROGRAM", help="programs, notebooks or folders; their code is executed"
    )
    _add_mesh(run)
    _add_python(run)

    compiling.add_command(commands, _count)
    planning.add_command(commands)

    explaining.add_commands(commands)
    config = config_options.add_command(commands)
    config_options.add_selection(config)
    _add_mesh(config)
    server = commands.add_parser("server", help="run the language server on standard input and output")
    server.add_argument("--stdio", action="store_true", help="what it does anyway; many editors say so")
    server.add_argument(
        "--tcp",
        metavar="PORT",
        help="for debugging: listen on a port of the loopback interface instead; nothing is run then",
    )
    _add_python(server)
    return parser


def _add_paths(parser: argparse.ArgumentParser) -> None:
    _add_path_argument(parser)
    _add_mesh(parser)


def _add_path_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", default=["."], metavar="PATH", help="files and folders; default: ."
    )


def _add_mesh(parser: argparse.ArgumentParser) -> None:
    config_options.add_options(parser)
    _add_deployment(parser)


def _add_deployment(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--devices", type=_count, metavar="N", help="how many devices there are")
    parser.add_argument(
        "--mesh", metavar="AXES", help="the mesh to assume where none is known: data=2,model=4"
    )


def _add_python(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--python", metavar="PATH", help="the interpreter that has JAX; default: this one")


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "check": check,
    "compile": compiling.compile_fixtures,
    "demo": demonstrating.demo,
    "coverage": _coverage,
    "layout": laying.layout,
    "plan": planning.plan,
    "report": _report,
    "run": _run,
    "upgrade": upgrading.upgrade,
    "config": _config,
    "explain": explaining.explain,
    "rules": explaining.rules,
    "server": _server,
}
