/** `svc trigger http create` and `svc trigger websocket create`. */

import { Option } from "commander";
import { HTTP_METHODS } from "../../../src/features/triggers/http/methods.ts";
import { parseSchemaJson } from "../../../src/lib/json/json.ts";
import {
  createHttpTrigger,
  createWebsocketTrigger,
  getHttpTrigger,
  getWebsocketTrigger,
} from "../../client/operations/triggers.ts";
import {
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote } from "../../terminal/text/output.ts";

interface Route {
  http_method: string;
  workspaced_route: boolean;
  workspace_id: string;
  route_path: string;
}

/** Formats a route: `POST /api/r/orders/:id`. */
export function formatRoute({ http_method, workspaced_route, workspace_id, route_path }: Route): string {
  return `${http_method.toUpperCase()} /api/r/${workspaced_route ? `${workspace_id}/` : ""}${route_path}`;
}

interface RunOptions extends WorkspaceOptions {
  run?: string;
  flow?: boolean;
  summary?: string;
  off?: boolean;
}

interface HttpOptions extends RunOptions {
  method: (typeof HTTP_METHODS)[number];
  async?: boolean;
  stream?: boolean;
  public?: boolean;
  callerToken?: boolean;
  apiKey?: string;
  basic?: string;
  belowWorkspace?: boolean;
  wrapBody?: boolean;
  rawString?: boolean;
  files?: string;
  website?: string;
}

export const createHttp = createWorkspaceCommand("create", "serve a route below /api/r/")
  .argument("<route>", "such as orders/:id, or files/*rest for all that follows")
  .argument("<path>", "path of the trigger, such as u/ann/orders")
  .option("--run <path>", "the script or flow that runs (default: the one at the trigger's own path)")
  .option("--flow", "it is a flow")
  .addOption(new Option("--method <method>", "HTTP method").choices([...HTTP_METHODS]).default("post"))
  .addOption(new Option("--async", "answer the job's id at once").conflicts("stream"))
  .option("--stream", "answer a stream of updates")
  .option("--public", "let anybody call it, without credentials")
  .option("--caller-token", "ask callers for the token of somebody who may run it")
  .option("--api-key <path>", "ask for the key in a resource, or in $var:<path>")
  .option("--basic <path>", "ask for the name and password in a resource, or in $var:<path>")
  .option("--below-workspace", "serve it at /api/r/<workspace>/<route>")
  .option("--wrap-body", "pass the whole body as the argument `body`")
  .option("--raw-string", "also pass the text of the body as `raw_string`")
  .option("--files <key>", "answer this file of the workspace's storage instead")
  .option("--website <prefix>", "answer the files below this key of the storage instead")
  .option("--summary <text>", "one line that says what it is for")
  .option("--off", "do not switch it on yet")
  .addHelpText(
    "after",
    formatExamples(
      "svc trigger http create orders/:id u/ann/orders --run u/ann/order --public",
      "svc trigger http create hooks/pay f/shop/pay --async \\\n      --api-key f/shop/pay_key",
      "svc trigger http create docs f/shop/docs --method get --public \\\n      --website docs/public",
    ),
  )
  .action(async (route: string, path: string, options: HttpOptions) => {
    const made = await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      await client.call(createHttpTrigger, { workspace, body: createHttpBody(route, path, options) });
      return client.call(getHttpTrigger, { workspace, path });
    });
    if (options.json) return printJson(made);
    printNote(`trigger ${path} created${options.off ? ", switched off" : ""}`);
    print(formatRoute(made));
    printNote(`${describeCallers(made.authentication_method)}; it runs with the rights of ${made.email}`);
  });

const CALLERS: Record<string, string> = {
  none: "anybody can call it, without credentials",
  token: "callers need the token of somebody who may run it",
  api_key: "callers need the key of the resource",
  basic_http: "callers need the name and password of the resource",
};

/** Describes who may call a route. */
const describeCallers = (method: string) => CALLERS[method] ?? `callers are checked by ${method}`;

function createHttpBody(route_path: string, path: string, options: HttpOptions) {
  const asked = [options.public, options.callerToken, options.apiKey, options.basic].filter(Boolean);
  if (asked.length !== 1)
    throw createUsageError(
      "who may call the route: give one of --public, --caller-token, --api-key and --basic",
      "--public lets anybody run it, with the rights of the user who made the route",
    );
  const s3 = options.website ?? options.files;
  return {
    path,
    route_path,
    http_method: options.method,
    workspaced_route: options.belowWorkspace ?? false,
    script_path: s3 === undefined ? (options.run ?? path) : "",
    is_flow: options.flow ?? false,
    request_type: options.async
      ? ("async" as const)
      : options.stream
        ? ("sync_sse" as const)
        : ("sync" as const),
    authentication_method: parseAuthentication(options),
    authentication_resource_path: options.apiKey ?? options.basic,
    wrap_body: options.wrapBody ?? false,
    raw_string: options.rawString ?? false,
    is_static_website: options.website !== undefined,
    static_asset_config: s3 === undefined ? undefined : { s3 },
    summary: options.summary,
    enabled: !options.off,
  };
}

/** Returns the authentication method selected by the options. */
export function parseAuthentication({
  callerToken,
  apiKey,
  basic,
}: Pick<HttpOptions, "callerToken" | "apiKey" | "basic">) {
  if (callerToken) return "token" as const;
  if (apiKey !== undefined) return "api_key" as const;
  return basic === undefined ? ("none" as const) : ("basic_http" as const);
}

const collect = (value: string, before: string[] = []) => [...before, value];

interface WebsocketOptions extends RunOptions {
  filter?: string[];
  send?: string[];
  answer?: boolean;
  answerErrors?: boolean;
}

export const createWebsocket = createWorkspaceCommand(
  "create",
  "run something for each message of a WebSocket",
)
  .argument("<url>", "ws://… or wss://…, or $script:<path> or $flow:<path>, whose result it is")
  .argument("<path>", "path of the trigger, such as u/ann/prices")
  .option("--run <path>", "the script or flow that runs (default: the one at the trigger's own path)")
  .option("--flow", "it is a flow")
  .option("--filter <key=json>", "take only JSON messages that contain this; may be repeated", collect)
  .option("--send <text>", "send this first; may be repeated", collect)
  .option("--answer", "send back what runs return")
  .option("--answer-errors", "and the errors of those that fail")
  .option("--summary <text>", "one line that says what it is for")
  .option("--off", "do not connect yet")
  .addHelpText(
    "after",
    formatExamples(
      "svc trigger websocket create wss://feed.example.org u/ann/prices \\\n      --run u/ann/price",
      'svc trigger websocket create wss://chat.example.org u/ann/bot --answer \\\n      --send \'{"join":"all"}\' --filter \'type="message"\'',
    ),
  )
  .action(async (url: string, path: string, options: WebsocketOptions) => {
    const body = {
      path,
      url,
      script_path: options.run ?? path,
      is_flow: options.flow ?? false,
      filters: (options.filter ?? []).map(parseFilter),
      initial_messages: (options.send ?? []).map((raw_message) => ({ raw_message })),
      can_return_message: (options.answer || options.answerErrors) ?? false,
      can_return_error_result: options.answerErrors ?? false,
      summary: options.summary,
      enabled: !options.off,
    };
    const made = await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      await client.call(createWebsocketTrigger, { workspace, body });
      return client.call(getWebsocketTrigger, { workspace, path });
    });
    if (options.json) return printJson(made);
    printNote(`trigger ${path} created${options.off ? ", switched off" : ""}`);
  });

/** Parses `type="order"`; a value that is not JSON is a text. */
function parseFilter(text: string): { key: string; value: unknown } {
  const at = text.indexOf("=");
  if (at < 1)
    throw createUsageError(`--filter ${text}: must be key=value`, "such as --filter 'type=\"order\"'");
  const value = text.slice(at + 1);
  try {
    return { key: text.slice(0, at), value: parseSchemaJson(value) };
  } catch {
    return { key: text.slice(0, at), value };
  }
}
