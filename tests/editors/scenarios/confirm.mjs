/** The real JAX is asked about a finding when the user says so, and its answer stands in the finding. */
export const workspace = "project";

export async function scenario(window) {
  const { page } = window;
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.goTo(10, 60); // in "model"
  await window.quickFix("Confirm on a fake mesh (SHL202)");
  const answer = page.locator(".monaco-hover:visible", { hasText: /confirmed by JAX \d/ });
  for (let tries = 0; tries < 10; tries++) {
    await page.keyboard.press("Escape"); // a hover shows what was known as it opened
    await window.command("Show or Focus Hover");
    const seen = await answer.first().waitFor({ timeout: 5000 }).then(
      () => true,
      () => false,
    );
    if (seen) {
      return;
    }
  }
  throw new Error("the hover does not say what JAX says");
}
