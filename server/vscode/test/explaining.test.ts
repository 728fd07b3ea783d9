import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../src/explaining";
import type { Candidate } from "../src/launching";
import type { Problem, Refused } from "../src/probing";

const python: Candidate = {
  kind: "interpreter",
  command: "/v/python",
  args: [],
  origin: "the selected interpreter",
};
const refusal = (problem: Problem, candidate = python): Refused => ({
  candidate,
  problem,
  detail: "line 1\nline 2",
});

test("what is not installed can be installed there", () => {
  for (const problem of ["no shardlint", "no server"] as const) {
    const { message, remedies, command } = explain([refusal(problem)], true, true);
    assert.match(message, /not installed in \/v\/python \(the selected interpreter\)/);
    assert.match(message, /pip install "shardlint\[server\]"/);
    assert.equal(remedies[0], "install");
    assert.equal(command, '/v/python -m pip install "shardlint[server]"');
  }
});

test("without any Python", () => {
  assert.match(explain([], true, true).message, /needs Python 3\.11 or newer, and found none/);
});

test("what is broken is quoted by its last line", () => {
  const { message, remedies } = explain([refusal("broken")], true, true);
  assert.match(message, /: line 2\. The output has all of it\.$/);
  assert.equal(remedies[0], "show output");
});

test("a workspace that is not trusted", () => {
  for (const refused of [[], [refusal("no shardlint", { ...python, origin: "PATH" })]]) {
    const { message, remedies } = explain(refused, false, true);
    assert.match(message, /not trusted/);
    assert.equal(remedies[0], "manage trust");
  }
});

test("a wrong setting is named also where the workspace is not trusted", () => {
  const set = refusal("not found", { ...python, origin: "shardlint.interpreter" });
  assert.match(explain([set], false, true).message, /\/v\/python \(shardlint\.interpreter\) does not exist/);
});

test("without the Python extension no interpreter can be selected", () => {
  for (const refused of [[], [refusal("not found")], [refusal("too old")]]) {
    const { message, remedies } = explain(refused, true, false);
    assert.doesNotMatch(message, /select a/i);
    assert.deepEqual(remedies, ["open settings"]);
  }
});
