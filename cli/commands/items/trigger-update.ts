/** `svc trigger http update` and `svc trigger websocket update`: change the given fields and keep the others. */

import { Option } from "commander";
import { HTTP_METHODS } from "../../../src/features/triggers/http/methods.ts";
import {
  getHttpTrigger,
  getWebsocketTrigger,
  updateHttpTrigger,
  updateWebsocketTrigger,
} from "../../client/operations/triggers.ts";
import {
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { createUpdateBody } from "../../program/records.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote } from "../../terminal/text/output.ts";
import { formatRoute, parseAuthentication } from "./trigger-create.ts";

interface TargetOptions extends WorkspaceOptions {
  run?: string;
  flow?: boolean;
  summary?: string;
}

/** Returns the fields that both kinds have. A new target is a script unless --flow is given. */
function readTarget({ run, flow, summary }: TargetOptions) {
  return { script_path: run, is_flow: run === undefined ? flow : (flow ?? false), summary };
}

/** Rejects an update that changes nothing. @throws a usage error if no change is given */
function requireChange(changes: Record<string, unknown>, kind: string): void {
  if (Object.values(changes).some((value) => value !== undefined)) return;
  throw createUsageError("no change is given", `say what, such as --run; svc trigger ${kind} update --help`);
}

interface HttpOptions extends TargetOptions {
  route?: string;
  method?: (typeof HTTP_METHODS)[number];
  public?: boolean;
  callerToken?: boolean;
  apiKey?: string;
  basic?: string;
}

function readAccess(options: HttpOptions) {
  const { apiKey, basic, callerToken } = options;
  const asked = [options.public, callerToken, apiKey, basic].filter(Boolean);
  if (asked.length === 0) return {};
  if (asked.length > 1) throw createUsageError("give one of --public, --caller-token, --api-key and --basic");
  return {
    authentication_method: parseAuthentication(options),
    authentication_resource_path: apiKey ?? basic ?? null,
  };
}

export const updateHttp = createWorkspaceCommand("update", "change a route; what is not given stays")
  .argument("<path>", "path of the trigger")
  .option("--route <route>", "where it is served, such as orders/:id")
  .addOption(new Option("--method <method>", "HTTP method").choices([...HTTP_METHODS]))
  .option("--run <path>", "the script or flow that runs")
  .option("--flow", "it is a flow")
  .option("--public", "let anybody call it, without credentials")
  .option("--caller-token", "ask callers for the token of somebody who may run it")
  .option("--api-key <path>", "ask for the key in a resource, or in $var:<path>")
  .option("--basic <path>", "ask for the name and password in a resource, or in $var:<path>")
  .option("--summary <text>", "one line that says what it is for")
  .addHelpText("after", formatExamples("svc trigger http update u/ann/orders --run u/ann/order2"))
  .action(async (path: string, options: HttpOptions) => {
    const { route: route_path, method: http_method } = options;
    const changes = { ...readTarget(options), ...readAccess(options), route_path, http_method };
    requireChange(changes, "http");
    const changed = await withClient(options, async (client) => {
      const place = { workspace: await resolveWorkspace(client, options.workspace), path };
      const body = createUpdateBody(await client.call(getHttpTrigger, place), changes);
      await client.call(updateHttpTrigger, { ...place, body: body as never });
      return client.call(getHttpTrigger, place);
    });
    if (options.json) return printJson(changed);
    printNote(`trigger ${path} changed`);
    print(formatRoute(changed));
  });

export const updateWebsocket = createWorkspaceCommand(
  "update",
  "change a WebSocket trigger, which reconnects; what is not given stays",
)
  .argument("<path>", "path of the trigger")
  .option("--to <url>", "where it connects to")
  .option("--run <path>", "the script or flow that runs")
  .option("--flow", "it is a flow")
  .option("--summary <text>", "one line that says what it is for")
  .addHelpText(
    "after",
    formatExamples("svc trigger websocket update u/ann/prices --to wss://feed2.example.org"),
  )
  .action(async (path: string, options: TargetOptions & { to?: string }) => {
    const changes = { ...readTarget(options), url: options.to };
    requireChange(changes, "websocket");
    const changed = await withClient(options, async (client) => {
      const place = { workspace: await resolveWorkspace(client, options.workspace), path };
      const body = createUpdateBody(await client.call(getWebsocketTrigger, place), changes);
      await client.call(updateWebsocketTrigger, { ...place, body: body as never });
      return client.call(getWebsocketTrigger, place);
    });
    if (options.json) printJson(changed);
    else printNote(`trigger ${path} changed`);
  });
