/** What each device holds of the arrays on the cursor's line is drawn beside it, follows the cursor and the text. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.goTo(8, 1);
  await window.command("shardlint: Show Layout of This Line");
  const page = window.webview();
  await page.getByText("train.py, line 8").waitFor();
  await page.getByText("f32[16000, 128]").first().waitFor();
  await window.focusEditor();
  await window.goTo(10, 1);
  await page.getByText("nothing: JAX refuses it").waitFor();
  await window.goTo(9, 29); // behind 32000
  for (const _ of " + 1") await window.page.keyboard.press("Delete"); // 4 devices divide what is left
  await window.goTo(10, 1);
  await page.getByText("f32[512, 8000]").first().waitFor();
  await window.goTo(8, 1);
  await page.getByText("f32[16000, 128]").first().waitFor();
}
