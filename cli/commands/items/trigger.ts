import { Option } from "commander";
import {
  deleteHttpTrigger,
  listHttpTriggers,
  setHttpTriggerEnabled,
} from "../../../src/features/triggers/http/operations.ts";
import {
  deleteWebsocketTrigger,
  listWebsocketTriggers,
  setWebsocketTriggerEnabled,
} from "../../../src/features/triggers/websocket/operations.ts";
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

type Kind = "http" | "websocket";

interface KindOptions extends WorkspaceOptions {
  kind?: Kind;
}

/** Lists triggers of both kinds, each with the script or flow that it starts. */
async function listAllTriggers(client: ServiceClient, workspace: string, path_start?: string) {
  const query = path_start === undefined ? {} : { path_start };
  const routes = await client.call(listHttpTriggers, { workspace, query });
  const sockets = await client.call(listWebsocketTriggers, { workspace, query });
  return [
    ...routes.map((row) => ({ kind: "http" as Kind, on: formatRoute(row), error: row.error ?? "", row })),
    ...sockets.map((row) => ({ kind: "websocket" as Kind, on: row.url, error: row.error ?? "", row })),
  ];
}

type FoundTrigger = Awaited<ReturnType<typeof listAllTriggers>>[number];

function formatTarget({ row }: FoundTrigger): string {
  if (row.script_path !== "") return row.script_path;
  return "static_asset_config" in row ? `files ${row.static_asset_config?.s3 ?? ""}` : "";
}

function formatState({ row, error }: FoundTrigger): string {
  return row.enabled ? error || "on" : "off";
}

/**
 * Finds the trigger at a path, of either kind.
 * @throws if there is none, and a usage error if both kinds have one and no kind was given
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
    throw createUsageError(`${path} is a route and a WebSocket trigger`, "add --kind http, or websocket");
  return found[0]!;
}

function createNotFoundError(path: string): CliError {
  return new CliError("NotFound", `there is no trigger at ${path}`, {
    hint: "svc trigger list",
    exit_code: EXIT_CODES.failed,
  });
}

const createKindOption = () =>
  new Option("--kind <kind>", "kind of the trigger, needed if both kinds have this path").choices([
    "http",
    "websocket",
  ]);

const list = createWorkspaceCommand("list", "list routes and WebSocket triggers")
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
        { title: "RUNS", value: formatTarget, cut: "start" },
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
    print(`${found.row.path}: ${found.on}`);
    print(`runs ${formatTarget(found)} as ${found.row.email}`);
    if ("authentication_method" in found.row) {
      const { request_type, authentication_method: asked } = found.row;
      const callers = asked === "none" ? "anybody can call it" : `asks callers for ${asked}`;
      print(`answers ${request_type}, ${callers}`);
    }
    if (!found.row.enabled) print("switched off");
    if (found.error) print(found.kind === "http" ? found.error : `not connected: ${found.error}`);
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
        const operation = kind === "http" ? setHttpTriggerEnabled : setWebsocketTriggerEnabled;
        return client.call(operation, { workspace, path, body: { enabled } });
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
      return client.call(kind === "http" ? deleteHttpTrigger : deleteWebsocketTrigger, { workspace, path });
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
