/**
 * What to tell a user whose shardlint cannot start. Pure.
 */
import { type Candidate, installCommand } from "./launching";
import type { Refused } from "./probing";

/** What a button of the message does. */
export type Remedy = "install" | "select interpreter" | "open settings" | "manage trust" | "show output";

export interface Explanation {
  readonly message: string;
  readonly remedies: readonly Remedy[];
  /** What the install button types, when there is one. */
  readonly command: string;
}

/**
 * Says what is missing and how to get it. The first refusal counts: it is what the user meant to run.
 *
 * @param selects whether an interpreter can be selected: the Python extension is there.
 */
export function explain(refused: readonly Refused[], trusted: boolean, selects: boolean): Explanation {
  const { message, remedies, command } = explainRefusal(refused, trusted, selects);
  return { message, remedies: remedies.filter((one) => selects || one !== "select interpreter"), command };
}

function explainRefusal(refused: readonly Refused[], trusted: boolean, selects: boolean): Explanation {
  const first = refused[0];
  const command = installCommand(first?.candidate);
  if (!trusted && (first === undefined || first.candidate.origin === "PATH")) {
    return {
      message:
        "shardlint does not run: this workspace is not trusted, so its Python environment is left alone, " +
        "and there is no usable shardlint on your PATH.",
      remedies: ["manage trust", "open settings"],
      command,
    };
  }
  if (first === undefined) {
    return {
      message:
        "shardlint needs Python 3.11 or newer, and found none. " +
        `Install Python, ${selects ? "select an interpreter, " : ""}or set \`shardlint.interpreter\`.`,
      remedies: ["select interpreter", "open settings"],
      command,
    };
  }
  const remedies = REMEDIES[first.problem];
  return { message: `${describe(first)} ${advice(first, command, selects)}`, remedies, command };
}

const REMEDIES: Record<Refused["problem"], readonly Remedy[]> = {
  "not found": ["select interpreter", "open settings"],
  "too old": ["select interpreter", "open settings"],
  "no shardlint": ["install", "select interpreter", "open settings"],
  "no server": ["install", "select interpreter", "open settings"],
  broken: ["show output", "open settings"],
};

function describe({ candidate, problem, detail }: Refused): string {
  switch (problem) {
    case "not found":
      return `shardlint cannot start: ${where(candidate)} does not exist.`;
    case "too old":
      return `shardlint needs Python 3.11 or newer; ${detail} (${candidate.origin}).`;
    case "no shardlint":
      return `shardlint is not installed in ${where(candidate)}.`;
    case "no server":
      return `shardlint's server is not installed in ${where(candidate)}.`;
    case "broken":
      return `shardlint cannot start with ${where(candidate)}: ${detail.split("\n").at(-1)?.replace(/\.$/, "")}.`;
  }
}

function advice({ problem }: Refused, command: string, selects: boolean): string {
  switch (problem) {
    case "no shardlint":
    case "no server":
      return `Install it with: ${command}`;
    case "not found":
    case "too old":
      return `${selects ? "Select another interpreter, or set" : "Set"} \`shardlint.interpreter\`.`;
    case "broken":
      return "The output has all of it.";
  }
}

function where(candidate: Candidate): string {
  return `${candidate.command} (${candidate.origin})`;
}
