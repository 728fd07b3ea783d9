/** Where the interpreter of the settings has no shardlint, the command that installs it is typed, and left to the user. */
export const workspace = "set";

export async function scenario(window) {
  await window.openFile("train.py");
  const message = window.notification("shardlint is not installed in");
  await message.filter({ hasText: "(shardlint.interpreter)" }).waitFor();
  await window.page.locator(".statusbar-item.error-kind", { hasText: "shardlint" }).waitFor();
  await message.getByText("Install in Terminal").click();
  await window.terminalSees('/set/python -m pip install "shardlint[server]"');
}
