/** Meshes and axes are symbols of a file and of the workspace, and their names have a colour of their own. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.page.keyboard.press("Control+Shift+O");
  const list = window.page.locator(".quick-input-list .monaco-list-row");
  await list.filter({ hasText: "symbols (3)" }).filter({ hasText: "mesh" }).waitFor();
  await list.filter({ hasText: "model" }).first().waitFor();
  await window.page.keyboard.press("Escape");
  await window.page.keyboard.press("Control+T");
  await window.page.locator(".quick-input-widget input.input").fill("#model");
  await list.filter({ hasText: "train.py" }).first().waitFor();
  await window.page.keyboard.press("Escape");
  await window.goTo(8, 73); // on "data"
  await window.command("Go to Type Definition");
  await window.page.locator(".statusbar-item", { hasText: "Ln 6, " }).waitFor();
}
