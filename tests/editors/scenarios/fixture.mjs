/** A program is executed when the user says so, in a terminal. */
export async function scenario(window) {
  await window.open("project");
  await window.openFile("fixture.py");
  await window.command("shardlint: Run This Fixture in a Terminal");
  await window.terminalSees("no disagreement");
}
