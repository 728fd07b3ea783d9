/** A folder that is not trusted names a program to run: it is not executed, until the user trusts the folder. */
import { existsSync } from "node:fs";

export const workspace = "hostile";

export async function scenario(window) {
  const { page, workspaces } = window;
  const executed = (name) => existsSync(`${workspaces}/hostile/${name}`);
  await window.openFile("train.py");
  await window.squiggles(2); // by the shardlint of the user's own settings
  if (executed("executed") || executed("executed-json")) {
    throw new Error("a program of a folder that is not trusted was executed");
  }
  await window.command("Workspaces: Manage Workspace Trust");
  await page.getByText("Trust", { exact: true }).first().click();
  while (!executed("executed")) {
    await page.waitForTimeout(100);
  }
  await window.notification("shardlint cannot start with").waitFor(); // it is no shardlint
  if (executed("executed-json")) {
    throw new Error("a module beside the program was imported");
  }
}
