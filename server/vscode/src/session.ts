/**
 * The life of the server: one for the window, which is told of all its folders.
 */
import { isDeepStrictEqual } from "node:util";
import * as vscode from "vscode";
import {
  DidChangeConfigurationNotification,
  LanguageClient,
  RevealOutputChannelOn,
  State,
} from "vscode-languageclient/node";
import { type Candidate, candidates, commandLine } from "./launching";
import { choose, type Refused } from "./probing";
import { CONFIGURATIONS, SELECTOR } from "./selector";
import {
  folders,
  isEnabled,
  launchSettings,
  SECTION,
  type ServerOptions,
  serverOptions,
  surroundings,
} from "./settings";
import type { Status } from "./status";

const TOKENS = "textDocument/semanticTokens/full";

function document(uri: vscode.Uri): { uri: string } {
  return { uri: uri.toString() };
}

export class Session {
  private readonly runs = new vscode.EventEmitter<void>();
  /** Fires when a server has started. */
  readonly onRunning = this.runs.event;
  private client: LanguageClient | undefined;
  private candidate: Candidate | undefined;
  private options: ServerOptions | undefined;
  private work: Promise<void> = Promise.resolve();

  /**
   * @param output where the extension and the server write.
   * @param safeFolder where programs start while the workspace is not trusted.
   * @param refuse told why nothing could be started, and whether the user asked for it just now.
   */
  constructor(
    private readonly output: vscode.LogOutputChannel,
    private readonly status: Status,
    private readonly safeFolder: string,
    private readonly refuse: (refused: readonly Refused[], asked: boolean) => void,
  ) {}

  /** Starts anew, with what is installed and set now. */
  restart(asked = false): Promise<void> {
    return this.next(async () => {
      await this.stop();
      if (isEnabled()) {
        await this.start(await this.choose(asked));
      }
    });
  }

  /** Starts anew if something else should run now: after settings or the selected interpreter changed. */
  reconsider(): Promise<void> {
    return this.next(async () => {
      const chosen = isEnabled() ? await this.choose() : undefined;
      const options = await serverOptions();
      const same =
        isDeepStrictEqual(chosen, this.candidate) &&
        options.python === this.options?.python &&
        options.trusted === this.options.trusted &&
        options.askJax === this.options.askJax;
      if (this.client?.state === State.Running && same) {
        await this.tellOptions();
        return;
      }
      await this.stop();
      await this.start(chosen);
    });
  }

  /** Tells the server what the settings are now. */
  async tellOptions(): Promise<void> {
    if (this.client?.state === State.Running) {
      const settings = { [SECTION]: await serverOptions() };
      await this.client.sendNotification(DidChangeConfigurationNotification.type, { settings });
    }
  }

  /** What runs the command line: the shardlint whose server runs, else one that is looked for. */
  async runner(): Promise<Candidate | undefined> {
    return this.candidate ?? this.choose(true);
  }

  /** The page about the arrays on a line of a document, counted from 0. */
  async layout(uri: vscode.Uri, line: number): Promise<string | undefined> {
    const found = await this.ask<{ html: string }>("shardlint/layout", { textDocument: document(uri), line });
    return found?.html;
  }

  /** The semantic tokens of a document, as the protocol packs them. */
  async tokens(uri: vscode.Uri): Promise<number[] | undefined> {
    const found = await this.ask<{ data: number[] }>(TOKENS, { textDocument: document(uri) });
    return found?.data;
  }

  private async ask<T>(method: string, params: object): Promise<T | undefined> {
    if (this.client?.state !== State.Running) return undefined;
    try {
      return (await this.client.sendRequest<T | null>(method, params)) ?? undefined;
    } catch (error) {
      this.output.debug(`${method}: ${String(error)}`); // cancelled, or the server is being stopped
      return undefined;
    }
  }

  /** Where programs start. */
  get folder(): string {
    const first = vscode.workspace.isTrusted ? folders()[0] : undefined;
    return first?.uri.fsPath ?? this.safeFolder;
  }

  /** Ends the server, after what was begun before. */
  end(): Promise<void> {
    return this.next(() => this.stop());
  }

  /** Does one thing after the other, whoever asks: a server is never started while one stops. */
  private next(task: () => Promise<void>): Promise<void> {
    this.work = this.work.then(task).catch((error: unknown) => {
      this.output.error(String(error));
      this.status.failed(String(error));
    });
    return this.work;
  }

  private async choose(asked = false): Promise<Candidate | undefined> {
    const all = candidates(launchSettings(folders()[0]), await surroundings());
    const choice = await choose(all, this.folder);
    if (choice.chosen === undefined) {
      for (const { candidate, problem, detail } of choice.refused) {
        this.output.warn(`${candidate.command} (${candidate.origin}): ${problem}: ${detail}`);
      }
      this.refuse(choice.refused, asked);
    }
    return choice.chosen;
  }

  private async start(candidate: Candidate | undefined): Promise<void> {
    this.candidate = candidate;
    if (candidate === undefined) {
      if (isEnabled()) this.status.failed("not started: see the output");
      else this.status.stopped("disabled by shardlint.enable");
      return;
    }
    this.status.starting();
    this.options = await serverOptions();
    const line = commandLine(candidate, ["server"]);
    this.output.info(`starts ${[line.command, ...line.args].join(" ")} (${candidate.origin})`);
    const client = new LanguageClient(
      SECTION,
      "shardlint",
      { command: line.command, args: line.args, options: { cwd: this.folder } },
      {
        documentSelector: [...SELECTOR, ...CONFIGURATIONS],
        outputChannel: this.output,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        initializationOptions: this.options,
        markdown: { isTrusted: false, supportHtml: false }, // a link in a hover runs no command
        initializationFailedHandler: () => false, // neither again nor another message: see below
        middleware: {
          // VS Code takes the tokens of one extension only, which is to be Python's: see colouring.ts.
          provideDocumentSemanticTokens: () => undefined,
          provideDocumentRangeSemanticTokens: () => undefined,
          workspace: {
            configuration: (params, _token, next) =>
              Promise.all(
                params.items.map(async (item) =>
                  item.section === SECTION
                    ? serverOptions(item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri))
                    : ((await next({ items: [item] }, _token)) as unknown[])[0],
                ),
              ),
          },
        },
      },
    );
    this.client = client;
    client.onDidChangeState(({ newState }) => {
      if (this.client === client) {
        this.show(client, newState, candidate);
      }
    });
    try {
      await client.start();
    } catch (error) {
      this.status.failed("could not start: see the output");
      this.refuse([{ candidate, problem: "broken", detail: String(error) }], false);
    }
  }

  private show(client: LanguageClient, state: State, candidate: Candidate): void {
    if (state === State.Starting) {
      this.status.starting();
    } else if (state === State.Running) {
      const version = client.initializeResult?.serverInfo?.version ?? "";
      this.output.info(`runs shardlint ${version}`);
      this.runs.fire();
      this.status.running(version, `${candidate.command} (${candidate.origin})`);
    } else {
      this.status.failed("the server has stopped");
    }
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.candidate = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      this.output.warn(String(error)); // it never started, or died before it was asked to stop
    }
    this.status.stopped("stopped");
  }
}
