/** What each device holds stands behind a spec, short or with the number of devices, unless the user turns that off. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";

export const workspace = "project";

export async function scenario(window) {
  const folder = `${window.workspaces}/project/.vscode`;
  await window.openFile("train.py");
  await window.sees("→ f32[16000, 128]");
  await window.seesNo("×");
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/settings.json`, JSON.stringify({ "shardlint.inlayHints.shards": false }));
  await window.seesNo("→");
  writeFileSync(`${folder}/settings.json`, JSON.stringify({ "shardlint.inlayHints.devices": true }));
  await window.sees("→ f32[16000, 128] × 8 devices");
  rmSync(folder, { recursive: true });
  await window.seesNo("×");
  await window.sees("→ f32[16000, 128]");
}
