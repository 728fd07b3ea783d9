/**
 * Bundles the extension into dist/, and draws its icon; with --tests bundles the tests too. Nothing is fetched.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { drawIcon } from "./icon.mjs";

const shared = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
  logLevel: "warning",
};

mkdirSync("dist", { recursive: true });
writeFileSync("dist/icon.png", drawIcon());
await build({ ...shared, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", minify: true });
if (process.argv.includes("--tests")) {
  const entryPoints = readdirSync("test").map((name) => `test/${name}`);
  await build({ ...shared, entryPoints, outdir: "dist/test", sourcemap: "inline" });
}
