/**
 * Whether a candidate has shardlint, and if not, what it lacks.
 */
import { execFile } from "node:child_process";
import { type Candidate, type CommandLine, commandLine } from "./launching";

/** What is wrong with a candidate. */
export type Problem = "not found" | "too old" | "no shardlint" | "no server" | "broken";

export type Probed =
  | { readonly problem?: undefined }
  | { readonly problem: Problem; readonly detail: string };

/** What came of running a program. `missing` when there is no such program. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly missing: boolean;
}

const PATIENCE_MS = 20_000;

/** Finds modules without importing them, and runs in any Python 3; see `commandLine` for the empty path. */
const LOOK = [
  "import sys; sys.path[:] = [p for p in sys.path if p]",
  "from importlib.util import find_spec",
  "print(sys.version_info >= (3, 11), *[find_spec(m) is not None for m in ('shardlint', 'pygls')], '%d.%d' % sys.version_info[:2])",
].join("\n");

export type Run = (line: CommandLine, cwd: string) => Promise<Ran>;

/** Runs a program with nothing on its standard input, and waits for its end. */
export const run: Run = (line, cwd) =>
  new Promise((resolve) => {
    const child = execFile(
      line.command,
      line.args,
      { cwd, timeout: PATIENCE_MS },
      (error, stdout, stderr) => {
        const missing = error !== null && (error as NodeJS.ErrnoException).code === "ENOENT";
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        resolve({ code, stdout, stderr: stderr || (error?.message ?? ""), missing });
      },
    );
    child.stdin?.on("error", () => {}); // it ended before it read anything
    child.stdin?.end();
  });

/**
 * Looks whether a candidate can serve. An interpreter is asked what it has; an executable is asked who it is, then
 * started and let go: any other program might end at once, and well.
 */
export async function probe(candidate: Candidate, cwd: string, runs: Run = run): Promise<Probed> {
  if (candidate.kind === "executable") {
    const named = await runs(commandLine(candidate, ["--version"]), cwd);
    if (named.missing) {
      return { problem: "not found", detail: `there is no ${candidate.command}` };
    }
    if (!named.stdout.startsWith("shardlint ")) {
      return { problem: "broken", detail: named.stderr.trim() || "it does not say that it is shardlint" };
    }
    const { code, stderr } = await runs(commandLine(candidate, ["server"]), cwd);
    if (code === 0) {
      return {};
    }
    return { problem: stderr.includes("shardlint[server]") ? "no server" : "broken", detail: stderr.trim() };
  }
  const { missing, code, stdout, stderr } = await runs(
    { command: candidate.command, args: [...candidate.args, "-c", LOOK] },
    cwd,
  );
  if (missing) {
    return { problem: "not found", detail: `there is no ${candidate.command}` };
  }
  const [newEnough, hasShardlint, hasServer, version] = stdout.trim().split(" ");
  if (code !== 0 || version === undefined) {
    return { problem: "broken", detail: stderr.trim() };
  }
  if (newEnough !== "True") {
    return { problem: "too old", detail: `${candidate.command} is Python ${version}` };
  }
  if (hasShardlint !== "True") {
    return { problem: "no shardlint", detail: `${candidate.command} has no shardlint` };
  }
  if (hasServer !== "True") {
    return {
      problem: "no server",
      detail: `${candidate.command} has shardlint without what its server needs`,
    };
  }
  return {};
}

/** What was chosen, or why nothing could be: each candidate with its problem, the best first. */
export type Choice =
  | { readonly chosen: Candidate }
  | { readonly chosen?: undefined; readonly refused: readonly Refused[] };

export interface Refused {
  readonly candidate: Candidate;
  readonly problem: Problem;
  readonly detail: string;
}

/** Takes the first candidate that can serve. */
export async function choose(all: readonly Candidate[], cwd: string, runs: Run = run): Promise<Choice> {
  const refused: Refused[] = [];
  for (const candidate of all) {
    const probed = await probe(candidate, cwd, runs);
    if (probed.problem === undefined) {
      return { chosen: candidate };
    }
    refused.push({ candidate, problem: probed.problem, detail: probed.detail });
  }
  return { refused };
}
