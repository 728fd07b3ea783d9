/** The status item says which shardlint runs, and leads to the output; the server starts anew when it is told to. */
export async function scenario(window) {
  await window.open("project");
  await window.openFile("train.py");
  await window.squiggles(2);
  const item = await window.status(/shardlint \d+\.\d+\.\d+.*\(shardlint\.interpreter\)/);
  await item.getByText("Show Output").click();
  const runs = window.page.locator(".view-line", { hasText: "runs shardlint" });
  await runs.first().waitFor();
  const before = await runs.count();
  await window.command("shardlint: Restart Server");
  await runs.nth(before).waitFor();
  await window.squiggles(2);
}
