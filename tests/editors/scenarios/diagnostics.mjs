/** A mistake is underlined as soon as the file is open, listed among the problems, and goes as it is repaired. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.command("Problems: Focus on Problems View");
  await window.problems().filter({ hasText: '"model" (4 devices) does not divide' }).waitFor();
  await window.problems().filter({ hasText: "SHL202" }).first().waitFor();
  await window.problems().filter({ hasText: "[Ln 11, Col 66]" }).filter({ hasText: "SHL103" }).waitFor();
  await window.problems().filter({ hasText: "mesh.ipynb" }).first().waitFor(); // though it is not open
}
