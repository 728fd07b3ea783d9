/**
 * Whether a program has to do with a workspace that is not trusted, and what may be shown of its text.
 */
import { lstatSync, readlinkSync, statSync } from "node:fs";
import * as path from "node:path";

const MOST_LINKS = 40;

/** Whether a path lies in one of the folders, or passes through one by a link on its way. */
export function leadsInto(file: string, folders: readonly string[]): boolean {
  const marks = new Set(
    folders.map((folder) => mark(folder, statSync)).filter((found) => found !== undefined),
  );
  const { root } = path.parse(file);
  const parts = file.slice(root.length).split(path.sep);
  let at = root;
  let links = 0;
  if (marks.has(mark(at, lstatSync) ?? "")) {
    return true;
  }
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const before = at;
    at = part === ".." ? path.dirname(at) : path.join(at, part);
    const found = mark(at, lstatSync);
    if (found === undefined) {
      return false;
    }
    if (marks.has(found)) {
      return true;
    }
    if (lstatSync(at).isSymbolicLink()) {
      links += 1;
      if (links > MOST_LINKS) {
        return true;
      }
      const target = readlinkSync(at);
      const anchor = path.parse(target).root;
      at = anchor || before;
      parts.unshift(...target.slice(anchor.length).split(path.sep));
    }
  }
  return false;
}

/** What a file or folder is known by, whatever it is called. */
function mark(file: string, look: typeof statSync | typeof lstatSync): string | undefined {
  try {
    const status = look(file, { bigint: true });
    return `${status.dev} ${status.ino}`;
  } catch {
    return undefined;
  }
}

/** A text for a message of the editor, which would take `[text](command:…)` in it for a link. */
export function shown(text: string): string {
  return text.replace(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, "\ufffd").replaceAll("](", "] (");
}
