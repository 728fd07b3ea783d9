/**
 * Drives VS Code in a browser as a user would. Started by run_browser.py with one JSON argument; runs the scenarios
 * named in it one after the other, prints a line of JSON for each, and takes a picture of how each ended.
 *
 * Scenarios of one workspace share a window, which takes longest to open, until one fails.
 */
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Window } from "./window.mjs";

const given = JSON.parse(process.argv[2]);
const require = createRequire(pathToFileURL(join(given.modules, "here.js")));
const { chromium } = require("playwright-core");

const browser = await chromium.launch({ executablePath: given.chromium, args: ["--no-sandbox"] });
const scenarios = [];
for (const name of given.scenarios) {
  scenarios.push({ name, ...(await import(`./scenarios/${name}.mjs`)) });
}
scenarios.sort((one, other) => one.workspace.localeCompare(other.workspace));
let window;
for (const { name, workspace, scenario } of scenarios) {
  window ??= await newWindow();
  const started = Date.now();
  let error = null;
  try {
    await window.open(workspace);
    await scenario(window);
  } catch (caught) {
    error = String(caught.stack ?? caught);
  }
  const picture = `${name.replaceAll("/", "-")}${error === null ? "" : "-failed"}.png`;
  await window.page.screenshot({ path: join(given.pictures, picture) });
  if (error !== null) {
    await window.page.close();
    window = undefined;
    rmSync(given.backups, { recursive: true, force: true }); // else what was typed comes back in the next window
  }
  console.log(JSON.stringify({ name, seconds: (Date.now() - started) / 1000, error }));
}
await browser.close();

async function newWindow() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 760 } });
  const page = await context.newPage();
  page.setDefaultTimeout(given.patience * 1000);
  return new Window(page, given.url, given.workspaces);
}
