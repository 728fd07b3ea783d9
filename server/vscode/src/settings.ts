/**
 * The user's settings, as the extension and as the server wants them.
 */
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import {
  findOnPath,
  type ImportStrategy,
  type LaunchSettings,
  resolveVariables,
  type Surroundings,
} from "./launching";
import { selectedInterpreter } from "./python";
import { leadsInto } from "./trust";

export const SECTION = "shardlint";

/** What the extension itself acts upon; the server is told the rest. */
const OWN = ["path", "interpreter", "importStrategy", "confirm", "trace"];

/** The settings that decide what runs. */
export const LAUNCHING = ["enable", "path", "interpreter", "importStrategy", "confirm", "askJax"].map(
  (name) => `${SECTION}.${name}`,
);

/** `python`, `trusted` and `askJax` hold from the start of a server to its end. */
export interface ServerOptions {
  readonly python: string | null;
  readonly trusted: boolean;
  readonly [setting: string]: unknown;
}

/** The folders of the workspace that are on disk. */
export function folders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
}

/** Whether shardlint has anything to do: it is enabled in some folder, or in a window without one. */
export function isEnabled(): boolean {
  const places = folders();
  const scopes = places.length > 0 ? places : [undefined];
  return scopes.some((scope) => vscode.workspace.getConfiguration(SECTION, scope).get("enable", true));
}

export function launchSettings(folder: vscode.WorkspaceFolder | undefined): LaunchSettings {
  const configuration = vscode.workspace.getConfiguration(SECTION, folder);
  const resolved = (name: string) => resolve(configuration.get<string[]>(name, []), folder);
  return {
    path: resolved("path"),
    interpreter: resolved("interpreter"),
    importStrategy: configuration.get<ImportStrategy>("importStrategy", "fromEnvironment"),
  };
}

/** What is known of the machine. The first interpreter is that of the first folder. */
export async function surroundings(): Promise<Surroundings> {
  const trusted = vscode.workspace.isTrusted;
  const places = folders();
  const shunned = trusted ? [] : places.map((folder) => folder.uri.fsPath);
  const selected: string[] = [];
  if (trusted) {
    for (const scope of places.length > 0 ? places.map((folder) => folder.uri) : [undefined]) {
      const interpreter = await selectedInterpreter(scope);
      if (interpreter !== undefined) {
        selected.push(interpreter);
      }
    }
  }
  const isOfWorkspace = (command: string) => leadsInto(path.resolve(command), shunned);
  const isOurs = (file: string) => isExecutable(file) && !isOfWorkspace(file);
  const which = (name: string) => findOnPath(name, process.env.PATH, isOurs, shunned);
  return { trusted, selected, which, isOfWorkspace };
}

/** What the server is told: the settings of a folder, the Python that has JAX, and whether the user trusts the workspace. */
export async function serverOptions(scope?: vscode.Uri): Promise<ServerOptions> {
  const folder = scope === undefined ? folders()[0] : vscode.workspace.getWorkspaceFolder(scope);
  const configuration = vscode.workspace.getConfiguration(SECTION, scope ?? folder);
  const values = Object.entries(JSON.parse(JSON.stringify(configuration)) as Record<string, unknown>);
  const options = Object.fromEntries(values.filter(([name]) => !OWN.includes(name)));
  const trusted = vscode.workspace.isTrusted;
  const [named = ""] = resolve([configuration.get("confirm.interpreter", "")], folder);
  const python = named || (trusted ? await selectedInterpreter(folder?.uri) : undefined) || null;
  return { ...options, python, trusted };
}

function resolve(values: readonly string[], folder: vscode.WorkspaceFolder | undefined): string[] {
  return resolveVariables(values, folder?.uri.fsPath, homedir(), process.env);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
