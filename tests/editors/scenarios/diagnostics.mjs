/** A mistake is underlined as soon as the file is open, listed among the problems, and goes as it is repaired. */
export async function scenario(window) {
  await window.open("project");
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.command("Problems: Focus on Problems View");
  await window.problems().filter({ hasText: '"model" (4 devices) does not divide' }).waitFor();
  await window.problems().filter({ hasText: "SHL202" }).waitFor();
  await window.problems().filter({ hasText: "SHL103" }).waitFor();
}
