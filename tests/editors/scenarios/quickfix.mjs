/** What is misspelt is repaired by a keystroke; the repair is one step to undo. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("train.py");
  await window.squiggles(2);
  await window.goTo(11, 68); // in "modle"
  await window.quickFix('Write "model" (SHL103)');
  await window.sees('NamedSharding(mesh, P("model")');
  await window.squiggles(1);
  await window.page.keyboard.press("Control+Z");
  await window.squiggles(2);
  await window.quickFix("Ignore SHL103 on this line, with a reason");
  await window.sees("# shardlint: ignore[SHL103] why");
  await window.squiggles(1);
}
