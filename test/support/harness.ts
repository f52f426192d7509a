/**
 * A real server on port 0 with its own data directory (and database on PostgreSQL); roles through real tokens.
 */

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConfigOverrides, loadConfig } from "../../src/platform/config/config.ts";
import { type RunningServer, startServer } from "../../src/server/server.ts";
import { createDatabase } from "./peers/postgres-database.ts";

export interface Answer {
  status: number;
  text: string;
  headers: Headers;
  /** The body as JSON. */
  json: <T = any>() => T;
}

export type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

export interface TestServer extends AsyncDisposable {
  server: RunningServer;
  url: string;
  data_dir: string;
  /** Calls as the local admin. */
  operator: Ask;
  /** Calls with a token, or anonymously. Paths are below /api. */
  as: (token: string | undefined) => Ask;
  /** A new user; the token is unrestricted. */
  user: (
    name: string,
    options?: { super_admin?: boolean },
  ) => Promise<{ email: string; token: string; ask: Ask }>;
  /** A workspace whose admin is a new user named `admin`. */
  workspace: (id?: string) => Promise<{ id: string; token: string; ask: Ask }>;
  /** Adds a user to a workspace. */
  member: (
    workspace: string,
    name: string,
    role?: "admin" | "developer" | "operator",
  ) => Promise<{ token: string; ask: Ask }>;
  stop: () => Promise<void>;
}

export async function startTestServer(overrides: ConfigOverrides = {}): Promise<TestServer> {
  const data_dir = overrides.data_dir ?? mkdtempSync(join(tmpdir(), "svc-test-"));
  const base = "database_url" in overrides ? undefined : process.env.DATABASE_URL;
  const database = base ? await createDatabase(base, "migrated") : undefined;
  const server = await startServer(
    loadConfig({
      port: 0,
      log_level: "fatal",
      // Most tests run no script and need no process started in advance.
      blank_children: 0,
      workers: 4,
      database_url: database?.url,
      ...overrides,
      data_dir,
    }),
  );
  const ask =
    (send: (path: string, init: RequestInit) => Promise<Response>): Ask =>
    async (method, path, body, headers = {}) => {
      const isText = typeof body === "string";
      const init: RequestInit = {
        method,
        headers: {
          ...(isText || body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
      };
      if (body !== undefined) init.body = isText ? body : JSON.stringify(body);
      const response = await send(`/api${path}`, init);
      const text = await response.text();
      return { status: response.status, text, headers: response.headers, json: () => JSON.parse(text) };
    };
  const operator = ask((path, init) =>
    fetch(`http://localhost${path}`, { ...init, unix: join(data_dir, "svc.sock") }),
  );
  const as = (token: string | undefined): Ask =>
    ask((path, init) =>
      fetch(`${server.url}${path}`, {
        ...init,
        headers: { ...(init.headers as object), ...(token ? { authorization: `Bearer ${token}` } : {}) },
      }),
    );

  async function user(name: string, options: { super_admin?: boolean } = {}) {
    const email = `${name}@example.org`;
    const { super_admin = false } = options;
    await expectOk(
      operator("POST", "/users/create", { email, password: `${name}-password`, super_admin, username: name }),
    );
    const token = (
      await expectOk(operator("POST", "/users/tokens/impersonate", { impersonate_email: email }))
    ).text;
    return { email, token, ask: as(token) };
  }

  const test: TestServer = {
    server,
    url: server.url,
    data_dir,
    operator,
    as,
    user,
    async workspace(id = "acme") {
      const { email, token, ask: asAdmin } = await user(`admin_${id.replaceAll("-", "_")}`);
      await expectOk(
        operator("POST", "/workspaces/create", { id, name: id, owner: email, username: "admin" }),
      );
      return { id, token, ask: asAdmin };
    },
    async member(workspace, name, role = "developer") {
      const found = await user(name);
      const { workspaceMembers } = await import("../../src/features/tenancy/workspaces/tables.ts");
      const { invalidateMembers } = await import("../../src/features/tenancy/people/members.ts");
      await server.app.db.write(async (tx) => {
        await tx.insert(workspaceMembers).values({
          workspace_id: workspace,
          email: found.email,
          username: name,
          is_admin: role === "admin",
          operator: role === "operator",
          created_at: new Date(),
        });
        tx.afterCommit(() => invalidateMembers(server.app));
      });
      return found;
    },
    async stop() {
      await server.stop();
      if (overrides.data_dir === undefined) rmSync(data_dir, { recursive: true, force: true });
      await database?.drop();
    },
    [Symbol.asyncDispose]: () => test.stop(),
  };
  return test;
}

export async function expectOk(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}

export { createDatabase };

/** Resolves with the first value that is neither undefined nor false; fails after a generous time. */
export async function until<T>(
  look: () => Promise<T | undefined> | T | undefined,
  what = "the condition",
  limit_ms = 50_000,
): Promise<Exclude<T, false>> {
  const end = Date.now() + limit_ms;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value as Exclude<T, false>;
    if (Date.now() > end) throw new Error(`waited too long for ${what}`);
    await Bun.sleep(10);
  }
}

/** Deploys a script and waits until it can run. @returns its hash */
export async function deploy(
  ask: Ask,
  workspace: string,
  path: string,
  content: string,
  more: object = {},
): Promise<string> {
  const before = await ask("GET", `/w/${workspace}/scripts/get/p/${path}`);
  const body = {
    path,
    content,
    language: "bun",
    ...(before.status === 200 && !before.json().archived ? { parent_hash: before.json().hash } : {}),
    ...more,
  };
  const hash = (await expectOk(ask("POST", `/w/${workspace}/scripts/create`, body))).text;
  await until(async () => {
    const status = (await ask("GET", `/w/${workspace}/scripts/deployment_status/h/${hash}`)).json();
    return status.lock !== undefined || status.lock_error_logs !== undefined ? true : undefined;
  }, "the deployment");
  return hash;
}

/**
 * A folder that the test shares with scripts, whatever user they run as.
 * @returns its path, below the temporary files
 */
export function createTemporaryFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  chmodSync(folder, 0o777);
  return folder;
}
