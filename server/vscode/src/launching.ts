/**
 * Which shardlint to run, and with what command line. Pure: what is known of the machine comes as arguments.
 */
import * as path from "node:path";

export type ImportStrategy = "fromEnvironment" | "fromPath";

/** What the user's settings say of a workspace folder, with their variables resolved. */
export interface LaunchSettings {
  readonly path: readonly string[];
  readonly interpreter: readonly string[];
  readonly importStrategy: ImportStrategy;
}

/** What is known of the machine and of the workspace. */
export interface Surroundings {
  readonly trusted: boolean;
  /** Interpreters that the Python extension has selected for the workspace's folders. */
  readonly selected: readonly string[];
  /** Finds an executable on PATH. */
  readonly which: (name: string) => string | undefined;
  /** Whether a program lies in the workspace, or is reached through it; asked where the workspace is not trusted. */
  readonly isOfWorkspace?: (command: string) => boolean;
}

/** A way to run shardlint: its own executable, or a Python that may have it installed. */
export interface Candidate {
  readonly kind: "executable" | "interpreter";
  readonly command: string;
  readonly args: readonly string[];
  /** Who named it, for people: `shardlint.path`, `PATH`, … */
  readonly origin: string;
}

/** A program and all its arguments. */
export interface CommandLine {
  readonly command: string;
  readonly args: string[];
}

/**
 * The ways to run shardlint, the best first. What a setting names is the only one: falling back from it would hide
 * a mistake in the setting.
 *
 * In a workspace that is not trusted, the interpreter selected for it is left out: it may lie in the workspace, or
 * be named by it. So is what the user's own settings name there, as `${workspaceFolder}/.venv/bin/python`. (VS Code
 * itself ignores the workspace's values of the restricted settings then.)
 */
export function candidates(settings: LaunchSettings, surroundings: Surroundings): Candidate[] {
  const [executable, ...executableArgs] = settings.path;
  if (executable !== undefined) {
    return allowed(executable, surroundings).map((command) => ({
      kind: "executable",
      command,
      args: executableArgs,
      origin: "shardlint.path",
    }));
  }
  const [interpreter, ...interpreterArgs] = settings.interpreter;
  if (interpreter !== undefined) {
    return allowed(interpreter, surroundings).map((command) => ({
      kind: "interpreter",
      command,
      args: interpreterArgs,
      origin: "shardlint.interpreter",
    }));
  }
  const found: Candidate[] = [];
  const add = (kind: Candidate["kind"], command: string | undefined, origin: string) => {
    if (command !== undefined && !found.some((other) => other.command === command)) {
      found.push({ kind, command, args: [], origin });
    }
  };
  const fromEnvironment = settings.importStrategy === "fromEnvironment";
  if (fromEnvironment && surroundings.trusted) {
    for (const selected of surroundings.selected) {
      add("interpreter", selected, "the selected interpreter");
    }
  }
  add("executable", surroundings.which("shardlint"), "PATH");
  if (fromEnvironment) {
    add("interpreter", surroundings.which("python3") ?? surroundings.which("python"), "PATH");
  }
  return found;
}

/** The program that a setting means, if it may run. A name is looked up here: the system would look in the workspace, too. */
function allowed(named: string, { trusted, which, isOfWorkspace }: Surroundings): string[] {
  if (trusted) {
    return [named];
  }
  const command = /[\\/]/.test(named) ? named : which(named);
  return command === undefined || isOfWorkspace?.(command) ? [] : [command];
}

/**
 * The command line of a shardlint command, as `server` or `layout FILE`.
 *
 * `-P` keeps the folder it starts in off Python's path: else a `json.py` in the workspace would be executed.
 */
export function commandLine(candidate: Candidate, args: readonly string[]): CommandLine {
  const { command, args: own } = candidate;
  if (candidate.kind === "executable") {
    return { command, args: [...own, ...args] };
  }
  return { command, args: [...own, "-P", "-m", "shardlint", ...args] };
}

/** The command that installs shardlint for a candidate, to be typed into a shell. */
export function installCommand(candidate: Candidate | undefined): string {
  const python = candidate?.kind === "interpreter" ? [candidate.command, ...candidate.args] : undefined;
  const pip = python === undefined ? "pip" : `${python.map(quoted).join(" ")} -m pip`;
  return `${pip} install "shardlint[server]"`;
}

function quoted(argument: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(argument) ? argument : `"${argument}"`;
}

/** Replaces `${workspaceFolder}`, `${userHome}`, `${env:NAME}` and a leading `~`. */
export function resolveVariables(
  values: readonly string[],
  folder: string | undefined,
  home: string,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  return values.map((value) =>
    value
      .replace(/^~(?=$|[\\/])/, () => home)
      .replaceAll("${userHome}", () => home)
      .replaceAll("${workspaceFolder}", (whole) => folder ?? whole)
      .replace(/\$\{env:([^}]+)\}/g, (_, name: string) => environment[name] ?? ""),
  );
}

/**
 * Finds an executable in the folders of a PATH.
 *
 * Relative folders are left out, since they mean something else in every workspace, and so are those within
 * `shunned`: the folders of a workspace that is not trusted.
 */
export function findOnPath(
  name: string,
  searched: string | undefined,
  isExecutable: (file: string) => boolean,
  shunned: readonly string[] = [],
  windows = process.platform === "win32",
): string | undefined {
  const { delimiter, isAbsolute, join } = windows ? path.win32 : path.posix;
  const names = windows ? [`${name}.exe`] : [name];
  return (searched ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !shunned.some((root) => isWithin(folder, root, windows)))
    .flatMap((folder) => names.map((file) => join(folder, file)))
    .find(isExecutable);
}

function isWithin(folder: string, root: string, windows: boolean): boolean {
  const { isAbsolute, relative } = windows ? path.win32 : path.posix;
  const steps = relative(root, folder);
  return !steps.startsWith("..") && !isAbsolute(steps);
}
