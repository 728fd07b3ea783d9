/** A mistake in a notebook stands in its cell, though the mesh is made in another, where a link of the hover leads. */
export const workspace = "project";

export async function scenario(window) {
  await window.openFile("mesh.ipynb");
  await window.page.locator(".notebookOverlay .code-cell-row").first().waitFor();
  await window.squiggles(1);
  const cells = window.page.locator(".notebookOverlay .code-cell-row");
  const wrong = cells.filter({ has: window.page.locator(".squiggly-error") });
  if ((await wrong.count()) !== 1 || !(await wrong.innerText()).includes("modle")) {
    throw new Error("the squiggle is not in the cell with the mistake");
  }
  await cells.nth(1).getByText('"data"').first().click();
  await window.page.locator(".statusbar-item", { hasText: "Cell 3 of 4" }).waitFor();
  await window.command("Show or Focus Hover");
  await window.page.locator(".monaco-hover:visible").getByText("mesh.ipynb cell 1:6").first().click();
  await window.page.locator(".statusbar-item", { hasText: "Cell 2 of 4" }).waitFor();
}
