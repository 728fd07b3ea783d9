/**
 * Panels that stay up to date: the layout of the cursor's line, and the report on a folder's parameters.
 */
import { mkdir, readFile } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { shardlint } from "./commands";
import { SELECTOR } from "./selector";
import type { Session } from "./session";
import { folders } from "./settings";
import { shown } from "./trust";

/** The pause, in milliseconds, after which a panel follows the cursor, and a report the files. */
const FOLLOWS = 120;
const RENEWS = 1000;

/** Shows what each device holds of the arrays on the cursor's line, wherever it goes, as the text is now. */
export class LayoutPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private place: { uri: vscode.Uri; line: number } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private page = "";
  private readonly listening: vscode.Disposable;

  constructor(private readonly session: Session) {
    this.listening = vscode.Disposable.from(
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.follow(editor)),
      vscode.workspace.onDidChangeTextDocument(() => this.soon()),
      vscode.languages.onDidChangeDiagnostics(() => this.soon()),
    );
  }

  /** Opens the panel beside the text. */
  show(): void {
    if (this.panel === undefined) {
      const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      this.panel = vscode.window.createWebviewPanel("shardlint.layout", "Layout", place, {
        localResourceRoots: [],
      });
      this.panel.onDidDispose(() => {
        this.panel = undefined;
        this.page = "";
      });
    } else {
      this.panel.reveal(undefined, true);
    }
    this.follow(vscode.window.activeTextEditor);
    void this.renew();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listening.dispose();
    this.panel?.dispose();
  }

  private follow(editor: vscode.TextEditor | undefined): void {
    if (editor !== undefined && vscode.languages.match(SELECTOR, editor.document) > 0) {
      this.place = { uri: editor.document.uri, line: editor.selection.active.line };
      this.soon();
    }
  }

  private soon(): void {
    if (this.panel !== undefined) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.renew(), FOLLOWS);
    }
  }

  private async renew(): Promise<void> {
    const { place } = this;
    if (this.panel === undefined || place === undefined) return;
    const found = await this.session.layout(place.uri, place.line);
    if (found === undefined || this.panel === undefined || place !== this.place) return;
    this.panel.title = "Layout";
    if (found !== this.page) {
      this.page = found;
      this.panel.webview.html = found;
    }
  }
}

/** Shows the report on a folder's parameters, and renews it when a file of the folder is saved. */
export class Reports implements vscode.Disposable {
  private readonly panels = new Map<string, vscode.WebviewPanel>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly listening: vscode.Disposable;

  constructor(
    private readonly session: Session,
    private readonly storage: vscode.Uri,
  ) {
    this.listening = vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      for (const folder of this.panels.keys()) {
        if (uri.fsPath.startsWith(folder + path.sep)) this.soon(folder);
      }
    });
  }

  /** Opens the report on a folder, else on one of the workspace. */
  async show(chosen?: vscode.Uri): Promise<void> {
    const folder = chosen?.fsPath ?? (await pickFolder())?.uri.fsPath;
    if (folder === undefined) return;
    const progress = {
      location: vscode.ProgressLocation.Notification,
      title: shown(`shardlint reads ${path.basename(folder)}`),
    };
    const page = await vscode.window.withProgress(progress, () => this.page(folder));
    if (page === undefined) return;
    const open = this.panels.get(folder);
    const panel =
      open ??
      vscode.window.createWebviewPanel(
        "shardlint.report",
        `shardlint: ${path.basename(folder)}`,
        vscode.ViewColumn.Active,
        { enableScripts: true, localResourceRoots: [] },
      );
    panel.webview.html = page;
    if (open === undefined) {
      this.panels.set(folder, panel);
      panel.onDidDispose(() => this.panels.delete(folder));
    }
    panel.reveal();
  }

  dispose(): void {
    this.listening.dispose();
    for (const timer of this.timers.values()) clearTimeout(timer);
    for (const panel of this.panels.values()) panel.dispose();
  }

  private soon(folder: string): void {
    clearTimeout(this.timers.get(folder));
    this.timers.set(
      folder,
      setTimeout(() => void this.renew(folder), RENEWS),
    );
  }

  private async renew(folder: string): Promise<void> {
    const page = await this.page(folder);
    const panel = this.panels.get(folder);
    if (page !== undefined && panel !== undefined && panel.webview.html !== page) panel.webview.html = page;
  }

  private async page(folder: string): Promise<string | undefined> {
    await mkdir(this.storage.fsPath, { recursive: true });
    const file = path.join(this.storage.fsPath, "report.html");
    const args = ["report", "--output-format", "html", "--output-file", file, folder];
    return (await shardlint(this.session, args)) === undefined ? undefined : readFile(file, "utf8");
  }
}

async function pickFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const all = folders();
  return all.length > 1 ? vscode.window.showWorkspaceFolderPick() : all[0];
}
