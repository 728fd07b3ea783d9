/**
 * A window of VS Code, as a user sees and uses it. Everything waits until it is seen, or fails.
 */
export class Window {
  constructor(page, url, workspaces) {
    Object.assign(this, { page, url, workspaces, opened: undefined });
  }

  /** Opens a folder or a .code-workspace, and closes the files that are open in it, whatever was typed into them. */
  async open(name) {
    if (this.opened !== name) {
      const kind = name.endsWith(".code-workspace") ? "workspace" : "folder";
      await this.page.goto(`${this.url}/?${kind}=${encodeURIComponent(`${this.workspaces}/${name}`)}`);
      await this.page.locator(".statusbar-item").first().waitFor();
      this.opened = name;
    }
    if (await this.page.locator(".part.panel").isVisible()) {
      await this.command("View: Hide Panel");
    }
    for (let files = await this.tabs().count(); files > 0; files--) {
      await this.command("View: Revert and Close Editor");
      await this.tabs().nth(files - 1).waitFor({ state: "detached" });
    }
  }

  tabs() {
    return this.page.locator(".editor .tabs-container .tab");
  }

  async openFile(name) {
    await this.page.keyboard.press("Control+P");
    await this.quickPick(name, name);
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
  }

  /** Runs a command by its title. */
  async command(title) {
    await this.page.keyboard.press("F1");
    await this.quickPick(`>${title}`, title);
  }

  /** Types into the open quick input, and takes the row that shows a text. */
  async quickPick(typed, shown) {
    const input = this.page.locator(".quick-input-widget input.input");
    await input.waitFor();
    await input.fill(typed);
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: shown }).first();
    await row.waitFor();
    await row.click();
  }

  /** Puts the cursor on a line and column, counted from 1. */
  async goTo(line, column) {
    await this.page.keyboard.press("Control+G");
    const input = this.page.locator(".quick-input-widget input.input");
    await input.waitFor();
    await input.fill(`:${line}:${column}`);
    await this.page.keyboard.press("Enter");
    await this.page.locator(".statusbar-item", { hasText: `Ln ${line}, Col ${column}` }).waitFor();
  }

  /** Opens the menu of quick fixes at the cursor, and takes one. */
  async quickFix(title) {
    const action = this.page.locator(".action-widget .monaco-list-row", { hasText: title }).first();
    for (let tries = 0; tries < 4 && !(await action.isVisible()); tries++) {
      await this.page.keyboard.press("Control+."); // findings that come in just then close the menu
      await action.waitFor({ timeout: 10_000 }).catch(() => {});
    }
    await action.click();
  }

  /** The page in a panel of the extension: a frame in a frame. */
  webview() {
    return this.page.frameLocator("iframe.webview.ready").last().frameLocator("iframe#active-frame");
  }

  /** How light the background of a page is, from 0 to 1. */
  async luminance(page) {
    const colour = await page.locator("body").evaluate((body) => getComputedStyle(body).backgroundColor);
    const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
    return (red + green + blue) / 3 / 255;
  }

  /** Gives the keyboard back to the text. */
  async focusEditor() {
    await this.command("View: Focus First Editor Group");
  }

  /** Waits until an editor shows a text. */
  async sees(shown) {
    await this.page.waitForFunction(isShown, [shown, true]);
  }

  /** Waits until no editor shows a text. */
  async seesNo(shown) {
    await this.page.waitForFunction(isShown, [shown, false]);
  }

  /** Waits until the squiggles of errors are so many. */
  async squiggles(count) {
    await this.page.waitForFunction(
      (wanted) => document.querySelectorAll(".monaco-editor .squiggly-error").length === wanted,
      count,
    );
  }

  problems() {
    return this.page.locator(".markers-panel .monaco-list-row");
  }

  /** Waits until the status item says something; returns it. */
  async status(text) {
    await this.page.locator("#status\\.languageStatus").hover();
    const item = this.page.locator(".hover-language-status .element", { hasText: "shardlint" });
    await item.filter({ hasText: text }).waitFor();
    return item;
  }

  notification(text) {
    return this.page.locator(".notification-toast", { hasText: text });
  }

  /** Waits until a terminal shows a text. */
  async terminalSees(shown) {
    await this.page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll(".xterm-rows")].some((rows) =>
          rows.innerText.replaceAll("\u00a0", " ").replaceAll("\n", "").includes(wanted),
        ),
      shown,
    );
  }
}

/** VS Code draws spaces as no-break spaces. */
function isShown([text, wanted]) {
  const texts = [...document.querySelectorAll(".monaco-editor .view-lines")];
  return wanted === texts.some((lines) => lines.innerText.replaceAll("\u00a0", " ").includes(text));
}
