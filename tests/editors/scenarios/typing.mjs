/** What is typed is judged, saved or not. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.goTo(10, 1);
  await window.page.keyboard.press("Control+Shift+K"); // deletes the line
  await window.squiggles(1);
  await window.page.keyboard.press("Control+Z");
  await window.squiggles(2);
}
