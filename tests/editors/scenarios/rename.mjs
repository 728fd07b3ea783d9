/** An axis is renamed where the mesh is made, and in the specs. */
export const workspace = "project";

export async function scenario(window) {
  const { page } = window;
  await window.openFile("train.py");
  await window.sees("→ f32[16000, 128]");
  await window.goTo(8, 73); // on "data"
  await page.keyboard.press("F2");
  const input = page.locator(".rename-box input");
  await input.waitFor();
  await input.fill("batch");
  await input.press("Enter");
  await window.sees('reshape(2, 4), ("batch", "model"))');
  await window.sees('NamedSharding(mesh, P("batch", "model")');
  await window.squiggles(2); // the same as before
}
