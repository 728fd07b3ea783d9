/** Codes are completed in comments, those of findings on the line first, and a rule is ignored in a whole file. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.goTo(10, 1);
  await window.page.keyboard.press("End");
  await window.page.keyboard.type("  # shardlint: ignore[");
  await window.command("Trigger Suggest");
  const words = window.page.locator(".suggest-widget.visible .monaco-list-row");
  await words.first().filter({ hasText: "SHL202 indivisible-dimension" }).waitFor();
  await window.page.keyboard.press("Escape");
  await window.command("View: Revert and Close Editor");
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.goTo(10, 55);
  await window.quickFix("Ignore SHL202 in this file");
  await window.sees("# shardlint: ignore-file[SHL202]");
  await window.squiggles(1);
}
