/** A program is executed when the user says so, in a terminal. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("heads.py");
  await window.command("shardlint: Run This Fixture in a Terminal");
  await window.terminalSees("no disagreement");
}
