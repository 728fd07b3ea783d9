/**
 * Drives VS Code in a browser as a user would. Started by run_browser.py with one JSON argument; runs the scenarios
 * named in it one after the other, prints a line of JSON for each, and takes a picture of how each ended.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Window } from "./window.mjs";

const given = JSON.parse(process.argv[2]);
const require = createRequire(pathToFileURL(join(given.modules, "here.js")));
const { chromium } = require("playwright-core");

const browser = await chromium.launch({ executablePath: given.chromium, args: ["--no-sandbox"] });
for (const name of given.scenarios) {
  const { scenario } = await import(`./scenarios/${name}.mjs`);
  const context = await browser.newContext({ viewport: { width: 1280, height: 760 } });
  const page = await context.newPage();
  page.setDefaultTimeout(given.patience * 1000);
  const started = Date.now();
  let error = null;
  try {
    await scenario(new Window(page, given.url, given.workspace));
  } catch (caught) {
    error = String(caught.stack ?? caught);
  }
  await page.screenshot({ path: join(given.pictures, `${name}${error === null ? "" : "-failed"}.png`) });
  await context.close();
  console.log(JSON.stringify({ name, seconds: (Date.now() - started) / 1000, error }));
}
await browser.close();
