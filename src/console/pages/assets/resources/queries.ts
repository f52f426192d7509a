import { queryOptions } from "@tanstack/react-query";
import { type Answer, call } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";

const MAX_RESOURCES = 1_000;

export type ListedResource = Answer<"GET /w/{workspace}/resources/list">[number];

export const resourceList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "resources", "list"],
    queryFn: ({ signal }) =>
      call("GET /w/{workspace}/resources/list", { workspace, query: { per_page: MAX_RESOURCES } }, signal),
  });

export const oneResource = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "resources", "one", path],
    queryFn: ({ signal }) => call("GET /w/{workspace}/resources/get/{path}", { workspace, path }, signal),
  });

export const typeList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "resources", "types"],
    queryFn: ({ signal }) => call("GET /w/{workspace}/resources/type/list", { workspace }, signal),
  });

/** Providers at which accounts can be connected. */
export const connectList = queryOptions({
  queryKey: ["connects"],
  queryFn: ({ signal }) => call("GET /oauth/list_connects", {}, signal),
  staleTime: 60_000,
});

type Value = Record<string, unknown>;

/** Names of the fields of a type whose values are secrets. */
export function secretFields(schema: unknown): string[] {
  const properties = (schema as { properties?: Record<string, Value> } | null)?.properties ?? {};
  return Object.entries(properties)
    .filter(([, field]) => field?.password === true || field?.format === "password")
    .map(([name]) => name);
}

export interface Edited {
  path: string;
  type: string;
  description: string;
  value: Value;
  schema: unknown;
  isNew: boolean;
}

/** Keeps typed passwords as secrets of their own, which the resource names. */
async function storeSecrets(workspace: string, { path, value, schema }: Edited): Promise<Value> {
  const stored = { ...value };
  for (const name of secretFields(schema)) {
    const typed = stored[name];
    if (typeof typed !== "string" || typed === "" || typed.startsWith("$var:")) continue;
    const secret = `${path}_${name}`;
    const exists = await call("GET /w/{workspace}/variables/exists/{path}", { workspace, path: secret });
    const body = { value: typed, is_secret: true };
    if (exists) await call("POST /w/{workspace}/variables/update/{path}", { workspace, path: secret, body });
    else {
      const made = { ...body, path: secret, description: `${name} of ${path}` };
      await call("POST /w/{workspace}/variables/create", { workspace, body: made });
    }
    stored[name] = `$var:${secret}`;
  }
  return stored;
}

export async function saveResource(workspace: string, edited: Edited): Promise<void> {
  const { path, type, description, isNew } = edited;
  const value = await storeSecrets(workspace, edited);
  if (isNew) {
    const body = { path, resource_type: type, description, value };
    await call("POST /w/{workspace}/resources/create", { workspace, body });
  } else {
    await call("POST /w/{workspace}/resources/update/{path}", {
      workspace,
      path,
      body: { value, description },
    });
  }
  await queryClient.invalidateQueries({ queryKey: [workspace] });
}
