/**
 * Commands that run shardlint: the layout of a line, the report, a fixture, what it compiles to.
 */
import { mkdir, readFile } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { commandLine } from "./launching";
import { run } from "./probing";
import type { Session } from "./session";
import { folders, serverOptions } from "./settings";
import { shown } from "./trust";

/** Shows what each device holds of the arrays on the cursor's line, beside the text. */
export class LayoutView implements vscode.TextDocumentContentProvider, vscode.Disposable {
  static readonly SCHEME = "shardlint-layout";
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly texts = new Map<string, string>();

  constructor(private readonly session: Session) {}

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "";
  }

  async show(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined || editor.document.uri.scheme !== "file" || !(await editor.document.save())) {
      void vscode.window.showInformationMessage("shardlint: a layout is drawn for a line of a saved file.");
      return;
    }
    const { fsPath } = editor.document.uri;
    const line = editor.selection.active.line + 1;
    const printed = await shardlint(this.session, ["layout", `${fsPath}:${line}`]);
    if (printed === undefined) {
      return;
    }
    const uri = vscode.Uri.from({
      scheme: LayoutView.SCHEME,
      path: `Layout of ${path.basename(fsPath)}, line ${line}`,
    });
    this.texts.set(uri.path, printed);
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
    });
  }

  dispose(): void {
    this.changed.dispose();
  }
}

/** Shows the report on a folder's parameters: a page without anything from elsewhere. */
export async function openReport(session: Session, storage: vscode.Uri): Promise<void> {
  const folder = await pickFolder();
  if (folder === undefined) {
    return;
  }
  await mkdir(storage.fsPath, { recursive: true });
  const file = path.join(storage.fsPath, "report.html");
  const args = ["report", "--output-format", "html", "--output-file", file, folder.uri.fsPath];
  const progress = {
    location: vscode.ProgressLocation.Notification,
    title: shown(`shardlint reads ${folder.name}`),
  };
  if ((await vscode.window.withProgress(progress, () => shardlint(session, args))) === undefined) {
    return;
  }
  showPage(folder.name, await readFile(file, "utf8"), vscode.ViewColumn.Active);
}

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
    void vscode.window.showInformationMessage("shardlint: what is compiled is a saved file of a trusted workspace.");
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
async function shardlint(session: Session, args: string[]): Promise<string | undefined> {
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

async function pickFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const all = folders();
  return all.length > 1 ? vscode.window.showWorkspaceFolderPick() : all[0];
}
