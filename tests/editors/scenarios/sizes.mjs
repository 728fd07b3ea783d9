/** The sizes that a finding names are written by a quick fix. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.goTo(8, 40);
  await window.page.keyboard.press("End");
  await window.page.keyboard.type("\ncut = jax.device_put(jnp.zeros((8, 10)), NamedSharding(mesh, P(None, \"model\")))");
  await window.squiggles(3);
  await window.goTo(9, 70);
  await window.quickFix("Write 12 for 10");
  await window.sees("jnp.zeros((8, 12))");
  await window.squiggles(2);
}
