/** What each device holds of the arrays on the cursor's line is shown beside it. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.goTo(8, 1);
  await window.command("shardlint: Show Layout of This Line");
  await window.sees("(16000, 128), 8.2 MB on each device");
}
