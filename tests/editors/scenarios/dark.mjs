/** Panels have the colours of the theme, here a dark one; the report is renewed when a file is saved. */
export const workspace = "dark";

export async function scenario(window) {
  await window.openFile("model.py");
  await window.command("shardlint: Open Report of the Parameters");
  const page = window.webview();
  await page.getByText("Memory for parameters on each device").waitFor();
  await page.getByText("v5e-8").first().waitFor();
  if ((await window.luminance(page)) > 0.2) throw new Error("the report is not dark");
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.goTo(8, 1);
  await window.command("shardlint: Show Layout of This Line");
  await window.webview().getByText("f32[16000, 128]").first().waitFor();
  if ((await window.luminance(window.webview())) > 0.2) throw new Error("the layout is not dark");
}
