"""The style and scripts of a report page; it loads nothing from other sites."""

from __future__ import annotations

CSS = """
:root { --back: #fbfbfd; --card: #fff; --ink: #1d2330; --soft: #667085; --line: #e3e6ee; --accent: #2f6fde;
  --bad: #b42318; --bad-back: #fef0ee; --warn: #8a5a00; --warn-back: #fff6e0; --sat: 62%; --light: 74%; }
@media (prefers-color-scheme: dark) { :root { --back: #12151c; --card: #1a1f29; --ink: #e6e9f0;
  --soft: #98a2b3; --line: #2b3240; --accent: #78a8ff; --bad: #ff9a8f; --bad-back: #3a1f1f; --warn: #f3c969;
  --warn-back: #352b14; --sat: 38%; --light: 42%; } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 32px 28px 64px; max-width: 1320px; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  font-variant-numeric: tabular-nums }
h1 { font-size: 26px; margin: 0 0 4px; letter-spacing: -.01em } h2 { font-size: 19px; margin: 40px 0 12px }
h3 { font-size: 14px; margin: 24px 0 10px; color: var(--soft); font-weight: 600 }
p { margin: 4px 0 } .small { color: var(--soft); font-size: 13px }
code, .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: 13px }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 16px 18px }
.bars { display: grid; gap: 14px }
.bars .row { display: grid; grid-template-columns: 230px 1fr 260px; gap: 16px; align-items: center }
.bar { width: 100%; height: 18px; display: block; border-radius: 4px; background: var(--line) }
.s0{fill:#2f6fde}.s1{fill:#14a38b}.s2{fill:#e08e0b}.s3{fill:#8b5cf6}.s4{fill:#d6457e}.s5{fill:#3aa0c9}
.s6{fill:#7a9a1e}.s7{fill:#98a2b3}
.big { font-size: 22px; font-weight: 650 }
.layouts { display: flex; flex-wrap: wrap; gap: 14px } .layouts .card { flex: none; max-width: 100% }
.mesh { max-width: 100%; height: auto; margin: 10px 0 2px; display: block }
.mesh rect { fill: hsl(var(--h) var(--sat) var(--light)) } .mesh text { font-size: 10px; text-anchor: middle;
  fill: var(--ink) }
.share rect { fill: var(--line); stroke: var(--soft); stroke-width: .8 } .share .part { fill: var(--accent);
  stroke: none } .share path { stroke: var(--soft); stroke-width: .4 } .share { display: block }
.scroll { overflow-x: auto; padding: 0 } table { border-collapse: collapse; width: 100%; font-size: 14px }
th, td { text-align: left; padding: 7px 12px; border-bottom: 1px solid var(--line); vertical-align: top }
tbody tr:last-child td { border-bottom: 0 } th { color: var(--soft); font-weight: 600; font-size: 13px;
  white-space: nowrap; background: var(--card) } th[data-key] { cursor: pointer; user-select: none }
th[aria-sort=ascending]::after { content: " ▲" } th[aria-sort=descending]::after { content: " ▼" }
td.n, th.n { text-align: right; white-space: nowrap } td.n .bar { height: 4px; margin-top: 4px; width: 96px;
  margin-left: auto } td .small { display: block } td code { white-space: nowrap }
.name { font-weight: 600; overflow-wrap: anywhere }
.bad, .warn { display: inline-block; border-radius: 6px; padding: 2px 8px; font-size: 13px }
.bad { color: var(--bad); background: var(--bad-back) }
.warn { color: var(--warn); background: var(--warn-back) }
ul.findings { list-style: none; padding: 0; margin: 0; display: grid; gap: 8px }
input[type=search] { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: 7px 12px; width: 320px; max-width: 100%; margin: 0 0 12px }
@media (max-width: 800px) { .bars .row { grid-template-columns: 1fr } }
/* Editors that show the page tell their theme's colours. */
[data-vscode-theme-kind] { --back: var(--vscode-editor-background);
  --card: var(--vscode-editorWidget-background); --ink: var(--vscode-editor-foreground);
  --soft: var(--vscode-descriptionForeground);
  --line: var(--vscode-widget-border, var(--vscode-panel-border));
  --accent: var(--vscode-textLink-foreground); --bad: var(--vscode-errorForeground);
  --bad-back: var(--vscode-inputValidation-errorBackground, transparent);
  --warn: var(--vscode-editorWarning-foreground);
  --warn-back: var(--vscode-inputValidation-warningBackground, transparent);
  font-family: var(--vscode-font-family); padding: 20px }
[data-vscode-theme-kind] code { color: inherit; background: none; padding: 0;
  font-family: var(--vscode-editor-font-family) }
.vscode-light { --sat: 62%; --light: 74% } .vscode-dark, .vscode-high-contrast { --sat: 38%; --light: 42% }
.panel { padding: 12px 16px } .panel .card { padding: 10px 14px } .panel table { width: auto }
.panel th, .panel td { padding: 3px 16px 3px 0; border: 0 } .panel th { background: none }
@media print { input[type=search] { display: none } body { max-width: none } .card { break-inside: avoid } }
"""

JS = """
for (const head of document.querySelectorAll("th[data-key]")) {
  const sort = () => {
    const table = head.closest("table"), body = table.tBodies[0], at = head.cellIndex;
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => row.cells[at].dataset.sort ?? row.cells[at].textContent.trim();
    const order = (a, b) => head.dataset.key === "number" ? key(a) - key(b) : key(a).localeCompare(key(b));
    body.append(...[...body.rows].sort((a, b) => down ? order(b, a) : order(a, b)));
  };
  head.tabIndex = 0;
  head.addEventListener("click", sort);
  head.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
}
for (const field of document.querySelectorAll("input[type=search]")) {
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    for (const row of field.parentElement.querySelectorAll("tbody tr")) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
    }
  });
}
"""
