/** A fixture is run from the line above it, and the verdict stands there. */
export const workspace = "project";

export async function scenario(window) {
  const { page } = window;
  await window.openFile("heads.py");
  const lens = page.locator(".codelens-decoration");
  const run = lens.getByText("Run this fixture on a fake mesh");
  const verdict = lens.filter({ hasText: "1 part, no disagreement. Run again" });
  await run.waitFor();
  for (let clicks = 0; clicks < 3 && (await verdict.count()) === 0; clicks++) {
    await run.click(); // which is lost when VS Code draws the line anew just then
    await verdict.waitFor({ timeout: 20_000 }).catch(() => {});
  }
  await verdict.waitFor();
  await lens.filter({ hasText: /JAX \d+\.\d+\.\d+: IndivisibleError/ }).first().waitFor();
}
