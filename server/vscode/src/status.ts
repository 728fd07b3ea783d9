/**
 * The language status item: beside `{}` of a Python file, whether shardlint runs, which version, and from where. Where it
 * should run and does not, the status bar has a red item.
 */
import * as vscode from "vscode";
import { SELECTOR } from "./selector";

export class Status implements vscode.Disposable {
  /** Seen only where shardlint does not run: that is not to be overlooked. */
  private readonly alarm = vscode.window.createStatusBarItem(
    "shardlint.alarm",
    vscode.StatusBarAlignment.Right,
    100,
  );
  private readonly item = vscode.languages.createLanguageStatusItem("shardlint.status", SELECTOR);

  constructor() {
    this.item.name = "shardlint";
    this.item.command = { command: "shardlint.showOutput", title: "Show Output" };
    this.alarm.name = "shardlint does not run";
    this.alarm.text = "$(error) shardlint";
    this.alarm.command = "shardlint.showOutput";
    this.alarm.backgroundColor = new vscode.ThemeColor("statusBarItem.errorBackground");
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
    this.alarm.dispose();
  }

  private show(text: string, detail: string, severity: vscode.LanguageStatusSeverity, busy = false): void {
    Object.assign(this.item, { text, detail, severity, busy });
    if (severity === vscode.LanguageStatusSeverity.Error) {
      this.alarm.tooltip = `shardlint: ${detail}`;
      this.alarm.show();
    } else {
      this.alarm.hide();
    }
  }
}
