/** Settings hold as soon as they are written; without any folder to report on shardlint does not run. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";

export const workspace = "project";

export async function scenario(window) {
  const folder = `${window.workspaces}/project/.vscode`;
  const set = (settings) => writeFileSync(`${folder}/settings.json`, JSON.stringify(settings));
  mkdirSync(folder, { recursive: true });
  await window.openFile("train.py");
  await window.squiggles(2);
  set({ "shardlint.settings": { ignore: ["SHL103"] } });
  await window.squiggles(1);
  set({ "shardlint.enable": false });
  await window.squiggles(0);
  await window.status("disabled by shardlint.enable");
  rmSync(folder, { recursive: true });
  await window.squiggles(2);
}
