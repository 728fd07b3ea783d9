/** The status item says which shardlint runs, and leads to the output; the server starts anew when it is told to. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("train.py");
  await window.squiggles(2);
  const item = await window.status(/shardlint \d+\.\d+\.\d+.*\(shardlint\.interpreter\)/);
  await item.getByText("Show Output").click();
  await window.sees("runs shardlint");
  await window.command("shardlint: Restart Server");
  await window.squiggles(0);
  await window.squiggles(2);
}
