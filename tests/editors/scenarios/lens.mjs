/** A fixture is run from the line above it, and the verdict stands there. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("heads.py");
  const lens = window.page.locator(".codelens-decoration");
  await lens.getByText("Run this fixture on a fake mesh").click();
  await lens.filter({ hasText: "1 part, no disagreement. Run again" }).waitFor();
  await lens.filter({ hasText: /JAX \d+\.\d+\.\d+: IndivisibleError/ }).first().waitFor();
}
