/**
 * The interpreters that the Python extension has selected; it is optional, and waited for only where it is installed.
 */
import { PVSC_EXTENSION_ID, PythonExtension } from "@vscode/python-extension";
import * as vscode from "vscode";

let api: Promise<PythonExtension | undefined> | undefined;

export const isPythonExtensionInstalled = (): boolean =>
  vscode.extensions.getExtension(PVSC_EXTENSION_ID) !== undefined;

function pythonExtension(): Promise<PythonExtension | undefined> {
  if (!isPythonExtensionInstalled()) {
    return Promise.resolve(undefined); // it may be installed later, without a restart
  }
  api ??= PythonExtension.api().catch(() => undefined);
  return api;
}

/** The interpreter selected for a folder, or for the window. */
export async function selectedInterpreter(folder?: vscode.Uri): Promise<string | undefined> {
  const environments = (await pythonExtension())?.environments;
  if (environments === undefined) {
    return undefined;
  }
  const environment = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
  return environment?.executable.uri?.fsPath;
}

/** Calls back whenever another interpreter is selected. */
export async function onInterpreterSelected(callback: () => void): Promise<vscode.Disposable | undefined> {
  return (await pythonExtension())?.environments.onDidChangeActiveEnvironmentPath(callback);
}
