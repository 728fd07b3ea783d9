/**
 * The message when shardlint cannot start, and what its buttons do.
 */
import * as vscode from "vscode";
import { type Explanation, explain, type Remedy } from "./explaining";
import type { Refused } from "./probing";
import { isPythonExtensionInstalled } from "./python";
import { SECTION } from "./settings";
import { shown } from "./trust";

const TITLES: Record<Remedy, string> = {
  install: "Install in Terminal",
  "select interpreter": "Select Interpreter",
  "open settings": "Open Settings",
  "manage trust": "Manage Workspace Trust",
  "show output": "Show Output",
};

/** Tells the user what is missing, each thing once. */
export class Refusals {
  private readonly told = new Set<string>();

  constructor(private readonly output: vscode.LogOutputChannel) {}

  /** @param asked whether the user asked for it just now, and so is told again. */
  async tell(refused: readonly Refused[], asked: boolean): Promise<void> {
    const explanation = explain(refused, vscode.workspace.isTrusted, isPythonExtensionInstalled());
    this.output.warn(explanation.message);
    if (this.told.has(explanation.message) && !asked) {
      return;
    }
    this.told.add(explanation.message);
    const { remedies } = explanation;
    const titles = remedies.map((remedy) => TITLES[remedy]);
    const picked = await vscode.window.showWarningMessage(shown(explanation.message), ...titles);
    const remedy = remedies.find((each) => TITLES[each] === picked);
    if (remedy !== undefined) {
      await this.apply(remedy, explanation);
    }
  }

  private async apply(remedy: Remedy, explanation: Explanation): Promise<void> {
    switch (remedy) {
      case "install": {
        const terminal = vscode.window.createTerminal("Install shardlint");
        terminal.show();
        terminal.sendText(explanation.command, false); // typed; the user presses Enter
        break;
      }
      case "select interpreter":
        await vscode.commands.executeCommand("python.setInterpreter");
        break;
      case "open settings":
        await vscode.commands.executeCommand("workbench.action.openSettings", SECTION);
        break;
      case "manage trust":
        await vscode.commands.executeCommand("workbench.trust.manage");
        break;
      case "show output":
        this.output.show();
        break;
    }
  }
}
