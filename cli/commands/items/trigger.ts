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
import type { Client } from "../../client/transport.ts";
import {
  examples,
  inWorkspace,
  noun,
  type WorkspaceOptions,
  withClient,
  workspaceFor,
} from "../../program/command.ts";
import { CliError, EXIT, usageError } from "../../terminal/text/failure.ts";
import { note, print, printJson, printTable } from "../../terminal/text/output.ts";
import { createHttp, createWebsocket, routeOf } from "./trigger-create.ts";

type Kind = "http" | "websocket";

interface KindOptions extends WorkspaceOptions {
  kind?: Kind;
}

/** Both kinds, with what they are set off by. */
async function allTriggers(client: Client, workspace: string, path_start?: string) {
  const query = path_start === undefined ? {} : { path_start };
  const routes = await client.call(listHttpTriggers, { workspace, query });
  const sockets = await client.call(listWebsocketTriggers, { workspace, query });
  return [
    ...routes.map((row) => ({ kind: "http" as Kind, on: routeOf(row), error: row.error ?? "", row })),
    ...sockets.map((row) => ({ kind: "websocket" as Kind, on: row.url, error: row.error ?? "", row })),
  ];
}

type Found = Awaited<ReturnType<typeof allTriggers>>[number];

function runsOf({ row }: Found): string {
  if (row.script_path !== "") return row.script_path;
  return "static_asset_config" in row ? `files ${row.static_asset_config?.s3 ?? ""}` : "";
}

function stateOf({ row, error }: Found): string {
  return row.enabled ? error || "on" : "off";
}

/** @throws when there is none, and a usage error when there is one of each kind and none was asked for */
async function findTrigger(
  client: Client,
  workspace: string,
  path: string,
  kind: Kind | undefined,
): Promise<Found> {
  const all = await allTriggers(client, workspace, path);
  const found = all.filter((one) => one.row.path === path && (kind === undefined || one.kind === kind));
  if (found.length === 0) throw missing(path);
  if (found.length > 1)
    throw usageError(`${path} is a route and a WebSocket trigger`, "add --kind http, or websocket");
  return found[0]!;
}

function missing(path: string): CliError {
  return new CliError("NotFound", `there is no trigger at ${path}`, {
    hint: "svc trigger list",
    exit_code: EXIT.failed,
  });
}

const kindOption = () =>
  new Option("--kind <kind>", "which one, if both kinds have this path").choices(["http", "websocket"]);

const list = inWorkspace("list", "list routes and WebSocket triggers")
  .addHelpText("after", examples("svc trigger list --workspace acme"))
  .action(async (options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      allTriggers(client, await workspaceFor(client, options.workspace)),
    );
    if (options.json) return printJson(found.map(({ kind, row }) => ({ kind, ...row })));
    await printTable(found, [
      { title: "PATH", value: ({ row }) => row.path, cut: "start" },
      { title: "KIND", value: ({ kind }) => kind, cut: "never" },
      { title: "ON", value: ({ on }) => on },
      { title: "RUNS", value: runsOf, cut: "start" },
      { title: "STATE", value: stateOf },
    ]);
  });

const show = inWorkspace("show", "show a trigger")
  .argument("<path>", "path of the trigger")
  .addOption(kindOption())
  .addHelpText("after", examples("svc trigger show u/ann/orders --workspace acme"))
  .action(async (path: string, options: KindOptions) => {
    const found = await withClient(options, async (client) =>
      findTrigger(client, await workspaceFor(client, options.workspace), path, options.kind),
    );
    if (options.json) return printJson({ kind: found.kind, ...found.row });
    print(`${found.row.path}: ${found.on}`);
    print(`runs ${runsOf(found)} as ${found.row.email}`);
    if ("authentication_method" in found.row) {
      const { request_type, authentication_method: asked } = found.row;
      print(`answers ${request_type}, asks callers for ${asked === "none" ? "nothing" : asked}`);
    }
    if (!found.row.enabled) print("switched off");
    if (found.error) print(found.kind === "http" ? found.error : `not connected: ${found.error}`);
  });

function switching(name: string, enabled: boolean) {
  return inWorkspace(name, `switch a trigger ${enabled ? "on" : "off"}`)
    .argument("<path>", "path of the trigger")
    .addOption(kindOption())
    .addHelpText("after", examples(`svc trigger ${name} u/ann/orders --workspace acme`))
    .action(async (path: string, options: KindOptions) => {
      const said = await withClient(options, async (client) => {
        const workspace = await workspaceFor(client, options.workspace);
        const { kind } = await findTrigger(client, workspace, path, options.kind);
        const operation = kind === "http" ? setHttpTriggerEnabled : setWebsocketTriggerEnabled;
        return client.call(operation, { workspace, path, body: { enabled } });
      });
      note(said);
    });
}

const remove = inWorkspace("delete", "delete a trigger; running jobs continue")
  .argument("<path>", "path of the trigger")
  .addOption(kindOption())
  .addHelpText("after", examples("svc trigger delete u/ann/orders --workspace acme"))
  .action(async (path: string, options: KindOptions) => {
    const said = await withClient(options, async (client) => {
      const workspace = await workspaceFor(client, options.workspace);
      const { kind } = await findTrigger(client, workspace, path, options.kind);
      return client.call(kind === "http" ? deleteHttpTrigger : deleteWebsocketTrigger, { workspace, path });
    });
    note(said);
  });

export default noun(
  "trigger",
  "run scripts and flows by HTTP routes and WebSocket messages",
  list,
  show,
  switching("enable", true),
  switching("disable", false),
  remove,
  noun("http", "routes of your own choosing", createHttp).addHelpText(
    "after",
    examples("svc trigger http create orders/:id u/ann/orders --run u/ann/order --public"),
  ),
  noun("websocket", "messages of WebSockets elsewhere", createWebsocket).addHelpText(
    "after",
    examples("svc trigger websocket create wss://feed.example.org u/ann/prices"),
  ),
).addHelpText(
  "after",
  examples("svc trigger http create orders/:id u/ann/orders --run u/ann/order --public", "svc trigger list"),
);
