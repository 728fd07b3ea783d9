import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Candidate } from "../src/launching";
import { choose, probe, type Ran, run } from "../src/probing";

const PYTHON: Candidate = { kind: "interpreter", command: "python3", args: [], origin: "PATH" };
const OWN: Candidate = { kind: "executable", command: "shardlint", args: [], origin: "PATH" };
const RAN: Ran = { code: 0, stdout: "", stderr: "", missing: false };

const problemOf = async (candidate: Candidate, ran: Partial<Ran>) =>
  (await probe(candidate, ".", async () => ({ ...RAN, ...ran }))).problem;

test("what an interpreter answers", async () => {
  const says = (stdout: string) => problemOf(PYTHON, { stdout });
  assert.equal(await says("True True True 3.11\n"), undefined);
  assert.equal(await says("False False False 3.9\n"), "too old");
  assert.equal(await says("True False True 3.12\n"), "no shardlint");
  assert.equal(await says("True True False 3.12\n"), "no server");
  assert.equal(await says("hello\n"), "broken");
  assert.equal(await problemOf(PYTHON, { code: 1, stderr: "SyntaxError" }), "broken");
  assert.equal(await problemOf(PYTHON, { code: -1, missing: true }), "not found");
});

test("what an executable does", async () => {
  const stdout = "shardlint 1.0\n";
  assert.equal(await problemOf(OWN, { stdout }), undefined);
  assert.equal(await problemOf(OWN, {}), "broken");
  assert.equal(await problemOf(OWN, { code: -1, missing: true }), "not found");
  const lacking = { code: 2, stdout, stderr: 'pip install "shardlint[server]"' };
  assert.equal(await problemOf(OWN, lacking), "no server");
  assert.equal(await problemOf(OWN, { code: 1, stdout, stderr: "Traceback" }), "broken");
});

test("the first that can serve is taken, and all refusals are kept", async () => {
  const runs = async (line: { command: string }) => ({
    ...RAN,
    stdout: line.command === "shardlint" ? "shardlint 1.0" : "True False False 3.11",
  });
  assert.deepEqual(await choose([PYTHON, OWN], ".", runs), { chosen: OWN });
  const { refused } = (await choose([PYTHON], ".", runs)) as { refused: readonly { problem: string }[] };
  assert.deepEqual(
    refused.map((each) => each.problem),
    ["no shardlint"],
  );
  assert.deepEqual(await choose([], ".", runs), { refused: [] });
});

test("a real Python is asked without executing what lies in its folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "probe-"));
  for (const name of ["sys", "importlib", "shardlint", "pygls", "site"]) {
    writeFileSync(join(folder, `${name}.py`), "raise SystemExit('the workspace was executed')");
  }
  const probed = await probe(PYTHON, folder);
  assert(
    ["no shardlint", "no server", "too old", undefined].includes(probed.problem),
    JSON.stringify(probed),
  );
});

test("real programs: none, one that fails, one that reads its input to the end", async () => {
  const folder = mkdtempSync(join(tmpdir(), "probe-"));
  assert.equal((await run({ command: join(folder, "none"), args: [] }, folder)).missing, true);
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\ncat\necho sorry >&2\nexit 3\n");
  chmodSync(program, 0o755);
  assert.deepEqual(await run({ command: program, args: [] }, folder), {
    code: 3,
    stdout: "",
    stderr: "sorry\n",
    missing: false,
  });
});
