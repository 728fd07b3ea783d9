/**
 * The language status item: beside `{}` of a Python file, whether shardlint runs, which version, and from where.
 */
import * as vscode from "vscode";
import { SELECTOR } from "./selector";

export class Status implements vscode.Disposable {
  private readonly item = vscode.languages.createLanguageStatusItem("shardlint.status", SELECTOR);

  constructor() {
    this.item.name = "shardlint";
    this.item.command = { command: "shardlint.showOutput", title: "Show Output" };
    this.stopped("not started");
  }

  starting(): void {
    this.show("shardlint", "starting", vscode.LanguageStatusSeverity.Information, true);
  }

  running(version: string, detail: string): void {
    this.show(`shardlint ${version}`.trim(), detail, vscode.LanguageStatusSeverity.Information);
  }

  stopped(detail: string): void {
    this.show("shardlint", detail, vscode.LanguageStatusSeverity.Information);
  }

  failed(detail: string): void {
    this.show("shardlint", detail, vscode.LanguageStatusSeverity.Error);
  }

  dispose(): void {
    this.item.dispose();
  }

  private show(text: string, detail: string, severity: vscode.LanguageStatusSeverity, busy = false): void {
    Object.assign(this.item, { text, detail, severity, busy });
  }
}
