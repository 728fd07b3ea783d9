/** The report on the parameters has the theme's colours, and is renewed when a file is saved. */
export const workspace = "dark";

export async function scenario(window) {
  await window.openFile("model.py");
  await window.command("shardlint: Open Report of the Parameters");
  const page = window.webview();
  await page.getByText("Memory for parameters on each device").waitFor();
  await page.getByText("2048").first().waitFor();
  if ((await window.luminance(page)) > 0.2) throw new Error("the report is not dark");
  await window.openFile("model.py");
  await window.goTo(8, 25);
  await window.page.keyboard.press("Home");
  for (const _ of "return nn.Dense(2048") await window.page.keyboard.press("Delete");
  await window.page.keyboard.type("return nn.Dense(4096");
  await window.command("File: Save");
  await window.page.locator(".tab", { hasText: "shardlint: dark" }).click();
  await window.webview().getByText("4096").first().waitFor();
}
