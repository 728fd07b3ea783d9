/**
 * The documents that shardlint reads: Python on disk, not yet saved, and in the cells of notebooks.
 */
export const SELECTOR = [
  { scheme: "file", language: "python" },
  { scheme: "untitled", language: "python" },
  { scheme: "vscode-notebook-cell", language: "python" },
];

/** The configuration files in which keys and codes are completed. */
export const CONFIGURATIONS = [
  { scheme: "file", pattern: "**/{shardlint.toml,.shardlint.toml,pyproject.toml}" },
];
