"""An extension in the place of Microsoft's Python extension, with as much of its interface as is used.

It has selected the file ``python`` of the first folder, which need not be there. *Select Interpreter* selects
the Python that runs the tests.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

MANIFEST = {
    "name": "python",
    "publisher": "ms-python",
    "version": "2026.0.0",
    "engines": {"vscode": "^1.91.0"},
    "main": "./main.js",
    "activationEvents": [],
    "capabilities": {"untrustedWorkspaces": {"supported": True}},
}

MAIN = """\
const fs = require("node:fs");
const vscode = require("vscode");

exports.activate = (context) => {
  const changed = new vscode.EventEmitter();
  let selected = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "python").fsPath;
  const select = () => {
    selected = process.env.PYTHON_OF_TESTS;
    changed.fire({ id: selected, path: selected, resource: undefined });
  };
  context.subscriptions.push(vscode.commands.registerCommand("python.setInterpreter", select));
  return {
    ready: Promise.resolve(),
    environments: {
      getActiveEnvironmentPath: () => ({ id: selected, path: selected }),
      onDidChangeActiveEnvironmentPath: changed.event,
      resolveEnvironment: async ({ path }) =>
        fs.existsSync(path) ? { executable: { uri: vscode.Uri.file(path) } } : undefined,
    },
  };
};
"""

CONTENT_TYPES = """\
<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/>
<Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""

VSIX_MANIFEST = """\
<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id="python" Version="2026.0.0" Publisher="ms-python"/>
<DisplayName>Python of the tests</DisplayName>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
</Assets>
</PackageManifest>
"""


def write(file: Path) -> Path:
    """Write the extension as a .vsix."""
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        archive.writestr("extension.vsixmanifest", VSIX_MANIFEST)
        archive.writestr("extension/package.json", json.dumps(MANIFEST))
        archive.writestr("extension/main.js", MAIN)
    return file
