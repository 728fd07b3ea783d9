/** Where the selected interpreter has no shardlint a message says so; once another is selected, it runs. */
export const workspace = "selected";

export async function scenario(window) {
  await window.openFile("train.py");
  const message = window.notification("shardlint is not installed in");
  await message.filter({ hasText: "(the selected interpreter)" }).waitFor();
  await message.getByText("Select Interpreter").click();
  await window.squiggles(2);
}
