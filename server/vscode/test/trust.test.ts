import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { leadsInto, shown } from "../src/trust";

test("what leads into a folder", () => {
  const top = mkdtempSync(path.join(tmpdir(), "shardlint-"));
  const at = (name: string) => path.join(top, name);
  for (const folder of ["inside", "outside"]) {
    mkdirSync(at(folder));
    writeFileSync(at(`${folder}/file`), "");
  }
  symlinkSync(at("inside"), at("outside/in"));
  symlinkSync("../inside/file", at("outside/relative"));
  symlinkSync("file", at("outside/beside"));
  symlinkSync("loop", at("outside/loop"));
  symlinkSync(at("outside"), at("inside/way"));
  const leads = (name: string) => leadsInto(at(name), [at("inside")]);
  for (const name of [
    "inside",
    "inside/file",
    "inside/way/file",
    "outside/in/file",
    "outside/relative",
    "outside/loop",
  ]) {
    assert(leads(name), name);
  }
  for (const name of ["outside", "outside/file", "outside/beside", "none"]) {
    assert(!leads(name), name);
  }
  assert(!leadsInto(at("outside/file"), [at("none")]));
  assert(leadsInto(at("outside/file"), [at("outside/in"), path.parse(top).root]));
});

test("a message has no links", () => {
  assert.equal(shown("[a](command:b)\u202e\u001b\u2028\nc"), "[a] (command:b)\ufffd\ufffd\ufffd\nc");
});
