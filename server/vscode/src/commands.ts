/**
 * Commands that run shardlint: a fixture, and what it compiles to.
 */
import * as path from "node:path";
import * as vscode from "vscode";
import { commandLine } from "./launching";
import { run } from "./probing";
import type { Session } from "./session";
import { serverOptions } from "./settings";
import { shown } from "./trust";

/** What the server answers when it has compiled a program. */
interface Compiled {
  readonly said: string;
  readonly problem: string | null;
  readonly page: string;
}

/** Has the program in the editor compiled, and shows what devices send for its lines, there and in a panel. */
export async function showCompiled(): Promise<void> {
  const uri =
    vscode.window.activeNotebookEditor?.notebook.uri ?? vscode.window.activeTextEditor?.document.uri;
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri?.toString());
  if (!vscode.workspace.isTrusted || uri?.scheme !== "file" || document?.isDirty) {
    void vscode.window.showInformationMessage(
      "shardlint: what is compiled is a saved file of a trusted workspace.",
    );
    return;
  }
  // The client of the server registers its commands.
  const compiled = await vscode.commands.executeCommand<Compiled | null>("shardlint.compile", {
    uri: uri.toString(),
  });
  if (compiled?.page) {
    showPage(path.basename(uri.fsPath), compiled.page, vscode.ViewColumn.Beside);
  }
}

/** Shows a page that loads nothing from elsewhere. */
function showPage(title: string, page: string, column: vscode.ViewColumn): void {
  const panel = vscode.window.createWebviewPanel("shardlint.report", `shardlint: ${title}`, column, {
    enableScripts: true,
    localResourceRoots: [],
  });
  panel.webview.html = page;
}

/** Executes the program in the editor on fake devices, in a terminal. */
export async function runFixture(session: Session): Promise<void> {
  const uri =
    vscode.window.activeNotebookEditor?.notebook.uri ?? vscode.window.activeTextEditor?.document.uri;
  const runner = await session.runner();
  if (!vscode.workspace.isTrusted || uri?.scheme !== "file" || runner === undefined) {
    void vscode.window.showInformationMessage("shardlint: a fixture is a saved file of a trusted workspace.");
    return;
  }
  const { python } = await serverOptions(uri);
  const line = commandLine(runner, ["run", ...(python === null ? [] : ["--python", python]), uri.fsPath]);
  const task = new vscode.Task(
    { type: "shardlint" },
    vscode.workspace.getWorkspaceFolder(uri) ?? vscode.TaskScope.Workspace,
    `run ${path.basename(uri.fsPath)}`,
    "shardlint",
    new vscode.ProcessExecution(line.command, line.args, { cwd: session.folder }),
  );
  await vscode.tasks.executeTask(task);
}

/** Runs a command of shardlint; returns what it printed, or says why it could not. */
export async function shardlint(session: Session, args: string[]): Promise<string | undefined> {
  const runner = await session.runner();
  if (runner === undefined) {
    return undefined;
  }
  const ran = await run(commandLine(runner, args), session.folder);
  if (ran.code !== 0) {
    void vscode.window.showErrorMessage(shown(`shardlint ${args[0]}: ${(ran.stderr || ran.stdout).trim()}`));
    return undefined;
  }
  return ran.stdout;
}
