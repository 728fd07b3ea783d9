/** The status item says which shardlint runs, and leads to the output. */
export async function scenario(window) {
  const { page } = window;
  await window.open("project");
  await window.openFile("train.py");
  await window.squiggles(2);
  await page.locator("#status\\.languageStatus").hover();
  const item = page.locator(".hover-language-status .element", { hasText: "shardlint" });
  await item.filter({ hasText: /shardlint \d+\.\d+\.\d+/ }).waitFor();
  await item.filter({ hasText: "(shardlint.interpreter)" }).waitFor();
  await item.getByText("Show Output").click();
  await window.sees("runs shardlint");
}
