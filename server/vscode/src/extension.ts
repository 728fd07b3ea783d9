/**
 * shardlint in VS Code: starts the server that is installed beside the user's Python, and passes settings on.
 */
import * as vscode from "vscode";
import { Colouring } from "./colouring";
import { runFixture, showCompiled } from "./commands";
import { LayoutPanel, Reports } from "./panels";
import { onInterpreterSelected } from "./python";
import { Refusals } from "./refusing";
import { Session } from "./session";
import { LAUNCHING, SECTION } from "./settings";
import { Status } from "./status";

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("shardlint", { log: true });
  const status = new Status();
  const refusals = new Refusals(output);
  const started = new Session(
    output,
    status,
    context.extensionPath,
    (refused, asked) => void refusals.tell(refused, asked),
  );
  session = started;
  const layout = new LayoutPanel(started);
  const reports = new Reports(started, context.globalStorageUri);
  const command = (name: string, does: () => unknown) =>
    vscode.commands.registerCommand(`${SECTION}.${name}`, does);
  context.subscriptions.push(
    output,
    status,
    layout,
    reports,
    new Colouring(started),
    command("restart", () => started.restart(true)),
    command("showOutput", () => output.show()),
    command("showLayout", () => layout.show()),
    command("openReport", (folder?: vscode.Uri) => reports.show(folder)),
    command("runFixtureInTerminal", () => runFixture(started)),
    command("showCompiled", () => showCompiled()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (LAUNCHING.some((name) => event.affectsConfiguration(name))) {
        void started.reconsider();
      } else if (event.affectsConfiguration(SECTION)) {
        void started.tellOptions();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void started.reconsider()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void started.reconsider()),
  );
  await started.restart();
  const selections = await onInterpreterSelected(() => void started.reconsider());
  if (selections !== undefined) {
    context.subscriptions.push(selections);
  }
}

export async function deactivate(): Promise<void> {
  await session?.end();
}
