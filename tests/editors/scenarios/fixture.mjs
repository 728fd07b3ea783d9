/** A program is executed when the user says so, in a terminal. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("heads.py");
  await window.sees("→ f32[16000"); // the palette offers the command once the editor knows the language
  await window.command("shardlint: Run This Fixture in a Terminal");
  await window.terminalSees("no disagreement");
}
