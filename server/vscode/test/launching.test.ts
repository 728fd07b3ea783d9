import assert from "node:assert/strict";
import { test } from "node:test";
import {
  candidates,
  commandLine,
  findOnPath,
  installCommand,
  type LaunchSettings,
  resolveVariables,
  type Surroundings,
} from "../src/launching";

const NOTHING_SET: LaunchSettings = { path: [], interpreter: [], importStrategy: "fromEnvironment" };
const MACHINE: Surroundings = {
  trusted: true,
  selected: ["/ws/.venv/bin/python"],
  which: (name) => `/usr/bin/${name}`,
};

const named = (settings: Partial<LaunchSettings>, machine: Partial<Surroundings> = {}) =>
  candidates({ ...NOTHING_SET, ...settings }, { ...MACHINE, ...machine }).map(
    (found) => `${found.command}: ${found.origin}`,
  );

test("the selected interpreter comes first, then PATH", () => {
  assert.deepEqual(named({}), [
    "/ws/.venv/bin/python: the selected interpreter",
    "/usr/bin/shardlint: PATH",
    "/usr/bin/python3: PATH",
  ]);
});

test("what a setting names is the only candidate", () => {
  assert.deepEqual(named({ interpreter: ["/p"] }), ["/p: shardlint.interpreter"]);
  assert.deepEqual(named({ interpreter: ["/p"], path: ["/s"] }), ["/s: shardlint.path"]);
});

test("the selected interpreter of a workspace that is not trusted is left alone", () => {
  assert.deepEqual(named({}, { trusted: false }), ["/usr/bin/shardlint: PATH", "/usr/bin/python3: PATH"]);
});

test("what a setting names in a workspace that is not trusted is left alone", () => {
  const isOfWorkspace = (command: string) => command.startsWith("/ws/");
  const untrusted = { trusted: false, isOfWorkspace };
  assert.deepEqual(named({ interpreter: ["/ws/.venv/bin/python"] }, untrusted), []);
  assert.deepEqual(named({ path: ["/ws/.venv/bin/shardlint"] }, untrusted), []);
  assert.deepEqual(named({ interpreter: ["/p"] }, untrusted), ["/p: shardlint.interpreter"]);
  assert.deepEqual(named({ interpreter: ["uv"] }, untrusted), ["/usr/bin/uv: shardlint.interpreter"]);
  assert.deepEqual(named({ interpreter: ["uv"] }, { ...untrusted, which: () => undefined }), []);
});

test("fromPath takes the executable on PATH alone", () => {
  assert.deepEqual(named({ importStrategy: "fromPath" }), ["/usr/bin/shardlint: PATH"]);
});

test("each folder's interpreter is tried once, and python where there is no python3", () => {
  const selected = ["/a", "/b", "/a"];
  const which = (name: string) => (name === "python" ? "/usr/bin/python" : undefined);
  assert.deepEqual(named({}, { selected, which }), [
    "/a: the selected interpreter",
    "/b: the selected interpreter",
    "/usr/bin/python: PATH",
  ]);
});

test("a machine with nothing has no candidate", () => {
  assert.deepEqual(named({}, { selected: [], which: () => undefined }), []);
});

test("the settings' own arguments go before shardlint's", () => {
  const [uv] = candidates({ ...NOTHING_SET, interpreter: ["uv", "run", "python"] }, MACHINE);
  assert(uv);
  assert.deepEqual(commandLine(uv, ["server"]), {
    command: "uv",
    args: ["run", "python", "-P", "-m", "shardlint", "server"],
  });
  const [own] = candidates({ ...NOTHING_SET, path: ["/s", "--x"] }, MACHINE);
  assert(own);
  assert.deepEqual(commandLine(own, ["layout", "f.py:3"]), {
    command: "/s",
    args: ["--x", "layout", "f.py:3"],
  });
});

test("the command that installs", () => {
  const [python] = candidates({ ...NOTHING_SET, interpreter: ["/my envs/bin/python"] }, MACHINE);
  assert.equal(installCommand(python), '"/my envs/bin/python" -m pip install "shardlint[server]"');
  assert.equal(installCommand(undefined), 'pip install "shardlint[server]"');
});

test("variables", () => {
  const resolve = (value: string, folder?: string) =>
    resolveVariables([value], folder, "/h/$&", { A: "a" })[0];
  assert.equal(resolve("${workspaceFolder}/x", "/w"), "/w/x");
  assert.equal(resolve("${workspaceFolder}/x"), "${workspaceFolder}/x");
  assert.equal(resolve("~/x"), "/h/$&/x");
  assert.equal(resolve("a~b"), "a~b");
  assert.equal(resolve("${userHome}/${env:A}${env:B}"), "/h/$&/a");
});

test("an executable is found on PATH, but not in relative folders", () => {
  const files = new Set(["/usr/bin/shardlint", "bin/shardlint", "./shardlint"]);
  const find = (path: string) => findOnPath("shardlint", path, (file) => files.has(file), [], false);
  assert.equal(find("bin:.::/usr/bin"), "/usr/bin/shardlint");
  assert.equal(find("bin:."), undefined);
  assert.equal(
    findOnPath("shardlint", undefined, () => true, [], false),
    undefined,
  );
});

test("folders of a workspace that is not trusted are passed over", () => {
  const find = (path: string) => findOnPath("python3", path, () => true, ["/ws"], false);
  assert.equal(find("/ws/.venv/bin:/ws:/wsx/bin"), "/wsx/bin/python3");
});

test("on Windows", () => {
  const find = (path: string) => findOnPath("python", path, () => true, ["C:\\ws"], true);
  assert.equal(find("c:\\WS\\.venv\\Scripts;bin;D:\\Python"), "D:\\Python\\python.exe");
});
