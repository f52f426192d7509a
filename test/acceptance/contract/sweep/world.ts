/**
 * A workspace with an item of every kind that only its admin may read, and texts in them that must not leak.
 */
import { STORED_KINDS } from "../../../../src/features/triggers/common/stored/kinds.ts";
import { type Answer, type Ask, deploy, expectOk, type TestServer, until } from "../../../support/harness.ts";

/** Texts that only the admin may read, and texts that every member may. */
export const PRIVATE = "canary-of-the-admin-7f3a91";
export const SHARED = "canary-of-the-workspace-c05e2d";

export const WORKSPACE = "/w/acme";
/** All items have this path, and none the other. */
export const PATH = "u/admin/kept";
export const MISSING = "u/admin/none";

export interface World {
  admin: Ask;
  /** The admin's unrestricted token, and that of a completed job of theirs. */
  token: string;
  endedJobToken: string;
  /** Values of path parameters, by name. */
  ids: Record<string, string>;
}

const SCRIPT = `// ${PRIVATE}
export const main = (given?: string) => ({ "said": "${PRIVATE}", given })`;

export async function createWorld(server: TestServer): Promise<World> {
  const { ask: admin, token } = await server.workspace();
  const put = (path: string, body: object | string) => expectOk(admin("POST", WORKSPACE + path, body));
  const text = { value: PRIVATE, description: PRIVATE };
  await put("/variables/create", { path: PATH, is_secret: true, ...text });
  await put("/resources/type/create", { name: "kept" });
  await put("/resources/create", { path: PATH, resource_type: "kept", ...text });
  const hash = await deploy(admin, "acme", PATH, SCRIPT, { summary: PRIVATE });
  await deploy(admin, "acme", "u/admin/hook", "export const main = () => 1");
  const content = `export const main = () => "${PRIVATE}"`;
  const raw = { type: "rawscript", language: "bun", content, input_transforms: {} };
  const value = { modules: [{ id: "a", value: raw }] };
  await put("/flows/create", { path: PATH, summary: PRIVATE, value });
  const policy = { execution_mode: "viewer" };
  await put("/apps/create", {
    path: PATH,
    summary: PRIVATE,
    value: { of: PRIVATE },
    policy,
    custom_path: "kept",
  });
  await put("/raw_apps/create", { path: PATH, summary: PRIVATE, value: PRIVATE });
  await put("/drafts/create", { path: PATH, typ: "script", value: { of: PRIVATE } });
  const runs = { path: PATH, script_path: PATH, is_flow: false, enabled: false, summary: PRIVATE };
  await put("/schedules/create", {
    ...runs,
    schedule: "0 0 0 1 1 *",
    timezone: "UTC",
    args: { of: PRIVATE },
  });
  const route = { route_path: "kept", http_method: "post", workspaced_route: true };
  const guarded = { authentication_method: "token", enabled: true };
  await put("/http_triggers/create", { ...runs, ...route, ...guarded });
  await put("/websocket_triggers/create", { ...runs, url: "wss://example.org/" });
  for (const { kind } of STORED_KINDS) await put(`/${kind}_triggers/create`, { ...runs, of: PRIVATE });
  await put("/webhooks/create", { url: `https://example.org/${PRIVATE}`, description: PRIVATE });
  await put("/folders/create", { name: "kept", summary: PRIVATE });
  await put("/groups/create", { name: "kept", summary: "" });
  const saved = await put(`/inputs/create?runnable_id=${PATH}&runnable_type=ScriptPath`, {
    name: PRIVATE,
    args: { of: PRIVATE },
  });
  const storage = { large_file_storage: { type: "FilesystemStorage" } };
  await put("/workspaces/edit_large_file_storage_config", storage);
  await put("/job_helpers/upload_s3_file?file_key=kept.txt", SHARED);
  await put("/workspaces/set_environment_variable", { name: "KEPT", value: SHARED });
  for (const [key, of] of [
    ["smtp_settings", { smtp_host: "127.0.0.1", smtp_port: 1, smtp_from: "a@b.c", smtp_password: PRIVATE }],
    ["scim_token", PRIVATE],
  ])
    await expectOk(server.operator("POST", `/settings/global/${key}`, { value: of }));

  const job = (await put(`/jobs/run/p/${PATH}`, { given: PRIVATE })).text;
  const flow_job = (await put(`/jobs/run/f/${PATH}`, { given: PRIVATE })).text;
  for (const id of [job, flow_job]) {
    await until(async () => {
      const { type } = (await admin("GET", `${WORKSPACE}/jobs_u/get/${id}`)).json();
      return type === "CompletedJob" ? true : undefined;
    }, `job ${id}`);
  }
  const read = async (path: string) => (await expectOk(admin("GET", WORKSPACE + path))).json();
  const version = String((await read(`/flows/get/${PATH}`)).version_id);
  const ids = {
    workspace: "acme",
    path: PATH,
    file_path: "kept.txt",
    key_path: `acme/script/${PATH}`,
    custom_path: "kept",
    route_path: "acme/kept",
    name: "kept",
    type: "kept",
    storage: "_default_",
    username: "admin",
    email: "admin_acme@example.org",
    user: "admin_acme@example.org",
    id: job,
    job_id: job,
    flow_job_id: flow_job,
    job_or_input_id: saved.text,
    hash,
    version,
    key: "smtp_settings",
    kind: "script",
    token_prefix: token.slice(0, 10),
    resume_id: "0",
    step_id: "a",
    node_id: "a",
    branch_or_iteration_n: "0",
    n: "1",
    scheduled_for: "2030-01-01T00:00:00Z",
  };
  return { admin, token, endedJobToken: await endedToken(admin), ids };
}

/** A job sends its token here, and completes. */
async function endedToken(admin: Ask): Promise<string> {
  const sent = Promise.withResolvers<string>();
  await using listener = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      sent.resolve(await request.text());
      return new Response("ok");
    },
  }) as Bun.Server<unknown> & AsyncDisposable;
  const content = `export const main = async () => {
    await fetch("http://127.0.0.1:${listener.port}", { method: "POST", body: process.env.WM_TOKEN });
  }`;
  await deploy(admin, "acme", "u/admin/tells", content);
  await expectOk(admin("POST", `${WORKSPACE}/jobs/run_wait_result/p/u/admin/tells`, {}));
  const token = await sent.promise;
  listener.stop(true);
  return token;
}

const SHOWN = [
  `/variables/get/${PATH}?decrypt_secret=true`,
  `/resources/get/${PATH}`,
  `/scripts/get/p/${PATH}`,
  `/flows/get/${PATH}`,
  `/apps/get/p/${PATH}`,
  `/schedules/get/${PATH}`,
  `/http_triggers/get/${PATH}`,
  `/websocket_triggers/get/${PATH}`,
  ...STORED_KINDS.map(({ kind }) => `/${kind}_triggers/get/${PATH}`),
  "/webhooks/list",
  "/folders/get/kept",
  "/groups/get/kept",
  "/resources/type/get/kept",
  "/workspaces/get_settings",
  "/users/get/admin",
  "/job_helpers/download_s3_file?file_key=kept.txt",
];

/** Everything that was planted, as its admin reads it: the same before and after. */
export async function readWorld({ admin, ids }: World): Promise<Record<string, unknown>> {
  const readWorld: Record<string, unknown> = {};
  for (const path of [...SHOWN, `/jobs_u/get/${ids.job_id}`]) {
    const answer: Answer = await admin("GET", WORKSPACE + path);
    readWorld[path] = [answer.status, answer.text];
  }
  return readWorld;
}
