import { Option } from "commander";
import { STORED_KINDS } from "../../../src/features/triggers/common/stored/kinds.ts";
import {
  deleteHttpTrigger,
  deleteWebsocketTrigger,
  listHttpTriggers,
  listWebsocketTriggers,
  setHttpTriggerEnabled,
  setWebsocketTriggerEnabled,
  storedTriggers,
} from "../../client/operations/triggers.ts";
import type { ServiceClient } from "../../client/transport.ts";
import {
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { CliError, createUsageError, EXIT_CODES } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, printTable } from "../../terminal/text/output.ts";
import { createHttp, createWebsocket, formatRoute } from "./trigger-create.ts";
import { updateHttp, updateWebsocket } from "./trigger-update.ts";

/** Operations of each kind. */
const OPERATIONS = {
  http: { setEnabled: setHttpTriggerEnabled, delete: deleteHttpTrigger },
  websocket: { setEnabled: setWebsocketTriggerEnabled, delete: deleteWebsocketTrigger },
  ...storedTriggers,
};

type Kind = keyof typeof OPERATIONS;

interface KindOptions extends WorkspaceOptions {
  kind?: Kind;
}

interface FoundTrigger {
  kind: Kind;
  /** What it listens to; empty for kinds that are stored and not run. */
  on: string;
  /** The script or flow that it starts, or the files that it serves. */
  target: string;
  /** How a route answers, and whom. */
  answers?: string;
  row: { path: string; enabled: boolean; email: string; error?: string | null | undefined };
}

/** Lists triggers of all kinds, each with the script or flow that it starts. */
async function listAllTriggers(
  client: ServiceClient,
  workspace: string,
  path_start?: string,
): Promise<FoundTrigger[]> {
  const query = path_start === undefined ? {} : { path_start };
  const routes = await client.call(listHttpTriggers, { workspace, query });
  const sockets = await client.call(listWebsocketTriggers, { workspace, query });
  const stored = STORED_KINDS.map(async ({ kind }) => {
    const rows = await client.call(storedTriggers[kind].list, { workspace, query });
    return rows.map((row) => ({ kind, on: "", target: row.script_path, row }));
  });
  return [
    ...routes.map((row) => ({
      kind: "http" as const,
      on: formatRoute(row),
      target: row.script_path || `files ${row.static_asset_config?.s3 ?? ""}`,
      answers: formatAnswers(row),
      row,
    })),
    ...sockets.map((row) => ({ kind: "websocket" as const, on: row.url, target: row.script_path, row })),
    ...(await Promise.all(stored)).flat(),
  ];
}

function formatAnswers({ request_type, authentication_method: asked }: HttpAnswers): string {
  const callers = asked === "none" ? "anybody can call it" : `asks callers for ${asked}`;
  return `answers ${request_type}, ${callers}`;
}

interface HttpAnswers {
  request_type: string;
  authentication_method: string;
}

function formatState({ row }: FoundTrigger): string {
  return row.enabled ? row.error || "on" : "off";
}

/**
 * Finds the trigger at a path, of any kind.
 * @throws if there is none, and a usage error if several kinds have one and no kind was given
 */
async function findTrigger(
  client: ServiceClient,
  workspace: string,
  path: string,
  kind: Kind | undefined,
): Promise<FoundTrigger> {
  const all = await listAllTriggers(client, workspace, path);
  const found = all.filter((one) => one.row.path === path && (kind === undefined || one.kind === kind));
  if (found.length === 0) throw createNotFoundError(path);
  if (found.length > 1)
    throw createUsageError(
      `${path} is the path of several triggers`,
      `add --kind ${found.map(({ kind }) => kind).join(", or ")}`,
    );
  return found[0]!;
}

function createNotFoundError(path: string): CliError {
  return new CliError("NotFound", `there is no trigger at ${path}`, {
    hint: "svc trigger list",
    exit_code: EXIT_CODES.failed,
  });
}

const createKindOption = () =>
  new Option("--kind <kind>", "kind of the trigger, needed if several kinds have this path").choices(
    Object.keys(OPERATIONS),
  );

const list = createWorkspaceCommand(
  "list",
  "list routes, WebSocket triggers, and triggers of kinds that are only stored",
)
  .addHelpText("after", formatExamples("svc trigger list --workspace acme"))
  .action(async (options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      listAllTriggers(client, await resolveWorkspace(client, options.workspace)),
    );
    if (options.json) return printJson(found.map(({ kind, row }) => ({ kind, ...row })));
    await printTable(
      found,
      [
        { title: "PATH", value: ({ row }) => row.path, cut: "start" },
        { title: "KIND", value: ({ kind }) => kind, cut: "never" },
        { title: "ON", value: ({ on }) => on },
        { title: "RUNS", value: ({ target }) => target, cut: "start" },
        { title: "STATE", value: formatState },
      ],
      "no triggers; svc trigger http create --help",
    );
  });

const show = createWorkspaceCommand("show", "show a trigger")
  .argument("<path>", "path of the trigger")
  .addOption(createKindOption())
  .addHelpText("after", formatExamples("svc trigger show u/ann/orders --workspace acme"))
  .action(async (path: string, options: KindOptions) => {
    const found = await withClient(options, async (client) =>
      findTrigger(client, await resolveWorkspace(client, options.workspace), path, options.kind),
    );
    if (options.json) return printJson({ kind: found.kind, ...found.row });
    print(`${found.row.path}: ${found.on || `${found.kind} trigger`}`);
    print(
      found.kind in storedTriggers ? `names ${found.target}` : `runs ${found.target} as ${found.row.email}`,
    );
    if (found.answers) print(found.answers);
    if (!found.row.enabled) print("switched off");
    const { error } = found.row;
    if (error) print(found.kind === "websocket" ? `not connected: ${error}` : error);
  });

function createSwitchCommand(name: string, enabled: boolean) {
  return createWorkspaceCommand(name, `switch a trigger ${enabled ? "on" : "off"}`)
    .argument("<path>", "path of the trigger")
    .addOption(createKindOption())
    .addHelpText("after", formatExamples(`svc trigger ${name} u/ann/orders --workspace acme`))
    .action(async (path: string, options: KindOptions) => {
      const said = await withClient(options, async (client) => {
        const workspace = await resolveWorkspace(client, options.workspace);
        const { kind } = await findTrigger(client, workspace, path, options.kind);
        return client.call(OPERATIONS[kind].setEnabled, { workspace, path, body: { enabled } });
      });
      printNote(said);
    });
}

const remove = createWorkspaceCommand("delete", "delete a trigger; running jobs continue")
  .argument("<path>", "path of the trigger")
  .addOption(createKindOption())
  .addHelpText("after", formatExamples("svc trigger delete u/ann/orders --workspace acme"))
  .action(async (path: string, options: KindOptions) => {
    const said = await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      const { kind } = await findTrigger(client, workspace, path, options.kind);
      return client.call(OPERATIONS[kind].delete, { workspace, path });
    });
    printNote(said);
  });

export default createNoun(
  "trigger",
  "run scripts and flows by HTTP routes and WebSocket messages",
  list,
  show,
  createSwitchCommand("enable", true),
  createSwitchCommand("disable", false),
  remove,
  createNoun("http", "run by HTTP routes", createHttp, updateHttp).addHelpText(
    "after",
    formatExamples("svc trigger http create orders/:id u/ann/orders --run u/ann/order --public"),
  ),
  createNoun(
    "websocket",
    "run by the messages of other servers' WebSockets",
    createWebsocket,
    updateWebsocket,
  ).addHelpText("after", formatExamples("svc trigger websocket create wss://feed.example.org u/ann/prices")),
).addHelpText(
  "after",
  formatExamples(
    "svc trigger http create orders/:id u/ann/orders --run u/ann/order --public",
    "svc trigger list",
  ),
);
