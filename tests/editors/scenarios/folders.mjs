/** In a window with several folders one server serves all; the report is on the folder that is picked. */
export const workspace = "both.code-workspace";

export async function scenario(window) {
  const { page } = window;
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.command("shardlint: Open Report of the Parameters");
  await window.quickPick("parameters", "parameters");
  const report = page.frameLocator("iframe.webview").frameLocator("#active-frame");
  await report.getByText("Block.Dense_0.kernel").first().waitFor();
}
