/**
 * The colours of axis names and of names that hold meshes. VS Code asks one extension for semantic tokens, and that
 * should go on being the one for Python: what the server finds is laid over it instead.
 */
import * as vscode from "vscode";
import { SELECTOR } from "./selector";
import type { Session } from "./session";

const PAUSE = 300;
/** By the number of the token's type in the server's legend. */
const COLOURS = ["symbolIcon.enumeratorMemberForeground", "symbolIcon.structForeground"];

export class Colouring implements vscode.Disposable {
  private readonly types = COLOURS.map((name) =>
    vscode.window.createTextEditorDecorationType({ color: new vscode.ThemeColor(name) }),
  );
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly listening: vscode.Disposable;

  constructor(private readonly session: Session) {
    const all = () => this.all();
    this.listening = vscode.Disposable.from(
      vscode.window.onDidChangeVisibleTextEditors(all),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.soon(document)),
      vscode.languages.onDidChangeDiagnostics(all),
      session.onRunning(all),
    );
  }

  dispose(): void {
    this.listening.dispose();
    for (const timer of this.timers.values()) clearTimeout(timer);
    for (const type of this.types) type.dispose();
  }

  private all(): void {
    for (const { document } of vscode.window.visibleTextEditors) this.soon(document);
  }

  private soon(document: vscode.TextDocument): void {
    if (vscode.languages.match(SELECTOR, document) === 0) return;
    const key = document.uri.toString();
    clearTimeout(this.timers.get(key));
    this.timers.set(
      key,
      setTimeout(() => void this.colour(document), PAUSE),
    );
  }

  private async colour(document: vscode.TextDocument): Promise<void> {
    const { version } = document;
    const data = await this.session.tokens(document.uri);
    if (data === undefined || document.version !== version) return;
    const ranges = placed(data);
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document === document) {
        for (const [number, type] of this.types.entries()) editor.setDecorations(type, ranges[number] ?? []);
      }
    }
  }
}

/** The places of tokens as the protocol packs them, by the number of their type. */
function placed(data: readonly number[]): vscode.Range[][] {
  const found: vscode.Range[][] = COLOURS.map(() => []);
  let line = 0;
  let start = 0;
  for (let at = 0; at + 4 < data.length; at += 5) {
    const [lines = 0, columns = 0, length = 0, type = 0] = data.slice(at, at + 4);
    line += lines;
    start = lines === 0 ? start + columns : columns;
    found[type]?.push(new vscode.Range(line, start, line, start + length));
  }
  return found;
}
