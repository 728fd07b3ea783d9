/** What each device holds stands behind a spec, unless the user turns that off. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";

export const workspace = "project";

export async function scenario(window) {
  const folder = `${window.workspaces}/project/.vscode`;
  await window.openFile("train.py");
  await window.sees("→ f32[16000, 128] × 8 devices");
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/settings.json`, JSON.stringify({ "shardlint.inlayHints.shards": false }));
  await window.seesNo("×");
  rmSync(folder, { recursive: true });
  await window.sees("→ f32[16000, 128] × 8 devices");
}
