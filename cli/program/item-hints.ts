/** Hints for errors about an item: the name that was probably meant, or the command that changes what exists. */
import type { ServiceClient } from "../client/transport.ts";
import { CliError } from "../terminal/text/failure.ts";
import { findNearest } from "../terminal/text/nearest.ts";

interface ItemKind {
  /** Operation below a workspace that lists the names or items. */
  list: string;
  /** Command that shows the list. */
  command: string;
}

/** Kinds of items, by their names in errors. */
const KINDS: Record<string, ItemKind> = {
  script: { list: "scripts/list_paths", command: "svc script list" },
  flow: { list: "flows/list_paths", command: "svc flow list" },
  variable: { list: "variables/list?per_page=1000", command: "svc variable list" },
  resource: { list: "resources/list?per_page=1000", command: "svc resource list" },
  "resource type": { list: "resources/type/listnames", command: "svc resource-type list" },
  schedule: { list: "schedules/list?per_page=1000", command: "svc schedule list" },
  "HTTP route": { list: "http_triggers/list?per_page=1000", command: "svc trigger list" },
  "WebSocket trigger": { list: "websocket_triggers/list?per_page=1000", command: "svc trigger list" },
  folder: { list: "folders/listnames", command: "svc folder list" },
  group: { list: "groups/listnames", command: "svc group list" },
};
const MISSING = new RegExp(`there is no (${Object.keys(KINDS).join("|")}) (\\S+) in workspace (\\S+)$`);

/** Commands that change an existing item, by the kinds that errors name. */
const UPDATES: Record<string, string> = {
  "a schedule": "svc schedule update",
  "an HTTP route": "svc trigger http update",
  "a WebSocket trigger": "svc trigger websocket update",
  "a variable": "svc variable set",
  "a resource": "svc resource set",
};
const TAKEN = new RegExp(`^there is (${Object.keys(UPDATES).join("|")}) at (\\S+) already$`);

/** Adds a hint to an error about a missing or existing item; returns any other error unchanged. */
export async function addItemHint(cause: unknown, client: ServiceClient): Promise<unknown> {
  if (!(cause instanceof CliError) || cause.hint !== undefined) return cause;
  const [, taken, at] = TAKEN.exec(cause.message) ?? [];
  const [, kind, name, workspace] = MISSING.exec(cause.message) ?? [];
  const hint =
    taken !== undefined
      ? `${UPDATES[taken]} ${at} changes it`
      : kind === undefined
        ? undefined
        : await suggestName(client, { kind, name: name!, workspace: workspace! });
  return hint === undefined
    ? cause
    : new CliError(cause.name, cause.message, { hint, trace: cause.trace, exit_code: cause.exit_code });
}

interface MissingItem {
  kind: string;
  name: string;
  workspace: string;
}

async function suggestName(client: ServiceClient, { kind, name, workspace }: MissingItem): Promise<string> {
  const isRunnable = kind === "script" || kind === "flow";
  const own = await listNames(client, workspace, kind);
  const other = kind === "script" ? "flow" : "script";
  const others = isRunnable ? await listNames(client, workspace, other) : [];
  if (others.includes(name)) return `${name} is a ${other}: svc run ${name}`;
  const nearest = findNearest(name, [...own, ...others]);
  if (nearest !== undefined) return `did you mean ${nearest}?`;
  return isRunnable
    ? `svc script list --workspace ${workspace} and svc flow list show what there is`
    : `${KINDS[kind]!.command} --workspace ${workspace} shows what there is`;
}

async function listNames(client: ServiceClient, workspace: string, kind: string): Promise<string[]> {
  try {
    const response = await client.send(`/api/w/${encodeURIComponent(workspace)}/${KINDS[kind]!.list}`, {});
    const found: unknown = response.ok ? await response.json() : [];
    return (found as (string | { path?: string; name?: string })[]).map((each) =>
      typeof each === "string" ? each : (each.path ?? each.name ?? ""),
    );
  } catch {
    return [];
  }
}
