/** The real JAX is asked about a finding when the user says so, and its answer stands in the finding. */
export const workspace = "project";

export async function scenario(window) {
  const { page } = window;
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.goTo(10, 60); // in "model"
  await window.quickFix("Confirm on a fake mesh (SHL202)");
  const answer = page.locator(".monaco-hover:visible", { hasText: /confirmed by JAX \d/ });
  while ((await answer.count()) === 0) {
    await page.keyboard.press("Escape");
    await window.command("Show or Focus Hover");
    await page.waitForTimeout(1000); // a hover shows what was known as it opened
  }
}
