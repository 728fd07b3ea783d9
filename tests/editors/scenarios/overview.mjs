/** All at once, for the picture in the README: findings, a hint, and a hover that shows what each device holds. */
export const workspace = "overview";

export async function scenario(window) {
  const { page } = window;
  await window.openFile("layout.py");
  await window.sees("→ f32[16000, 128]");
  await window.squiggles(2);
  await page.setViewportSize({ width: 1280, height: 860 });
  await window.command("View: Toggle Primary Side Bar Visibility");
  await window.command("Problems: Focus on Problems View");
  await window.problems().filter({ hasText: "SHL202" }).waitFor();
  await window.openFile("layout.py");
  await window.goTo(19, 51); // on the P of P("data", "model")
  await window.command("Show or Focus Hover");
  await page.locator(".monaco-hover:visible", { hasText: "│ 4 │ 5 │ 6 │ 7 │" }).first().waitFor();
  await page.waitForTimeout(1000); // until all of it is drawn
}
