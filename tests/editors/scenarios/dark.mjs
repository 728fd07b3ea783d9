/** The panel of the layout has the colours of the theme, here a dark one. */
export const workspace = "dark";

export async function scenario(window) {
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.goTo(8, 1);
  await window.command("shardlint: Show Layout of This Line");
  const page = window.webview();
  await page.getByText("f32[16000, 128]").first().waitFor();
  if ((await window.luminance(page)) > 0.2) throw new Error("the layout is not dark");
}
