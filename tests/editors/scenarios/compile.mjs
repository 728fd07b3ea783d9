/** What a program compiles to stands in a panel, and at its lines until they are edited. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("row.py");
  await window.command("shardlint: Show What This Compiles To");
  const page = window.webview();
  await page.getByText("all-reduce").first().waitFor();
  await window.focusEditor();
  await window.sees("⇄ all-reduce model");
}
