/** Over a spec: the array, the mesh, what each device holds, and a picture of it. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.command("Problems: Focus on Problems View");
  await window.problems().filter({ hasText: "SHL202" }).waitFor();
  await window.openFile("train.py");
  await window.goTo(8, 73); // on "data"
  await window.command("Show or Focus Hover");
  const hover = window.page.locator(".monaco-hover:visible");
  for (const told of [
    '"data": mesh axis, size 2',
    "(data=2, model=4), 8 devices",
    "each device holds: f32[16000, 128] (8.2 MB)",
    "every value is on: one device",
    "│ 4 │ 5 │ 6 │ 7 │",
  ]) {
    await hover.filter({ hasText: told }).first().waitFor();
  }
}
