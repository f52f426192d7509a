/** An app with components that run scripts, and how tests call them. */
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

export const APP = "u/admin/shop";
const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

const ECHO = `export async function main(greeting: any = null, name: any = null) {
  return { greeting, name, as: process.env.WM_USERNAME };
}`;
export const INLINE = `export async function main(x: number) { return [x * 2, process.env.WM_USERNAME]; }`;

/** A workspace with a script that only its admin may read, and an app that runs it. */
export async function startShop(execution_mode: string, more: object = {}) {
  const server = await startTestServer();
  const admin = await server.workspace();
  await deploy(admin.ask, "acme", "u/admin/echo", ECHO);
  const policy = {
    execution_mode,
    triggerables_v2: {
      "button:script/u/admin/echo": { static_inputs: { greeting: "hello" } },
      "choice:script/u/admin/echo": { one_of_inputs: { name: ["ann", { deep: [1] }] } },
      "pick:script/u/admin/echo": { allow_user_resources: ["name"] },
      "gone:script/u/admin/gone": {},
      [`inline:rawscript/${sha256(INLINE)}`]: { static_inputs: {} },
      [`other:rawscript/${sha256("export function main() {}")}`]: {},
    },
    ...more,
  };
  const value = { grid: [{ data: { inlineScript: { content: INLINE, language: "bun", lock: "" } } }] };
  const body = { path: APP, value, summary: "", policy, extra_perms: {} };
  await expectOk(admin.ask("POST", "/w/acme/apps/create", body));
  return { server, admin };
}

export const execute = (ask: Ask, body: object, path = APP) =>
  ask("POST", `/w/acme/apps_u/execute_component/${path}`, body);

export const BUTTON = { component: "button", path: "script/u/admin/echo" };

/** Starts a component, and waits for its result as the same caller, or as `reader`. */
export async function run(ask: Ask, body: object, reader = ask) {
  const id = (await expectOk(execute(ask, body))).text;
  return until<any>(async () => {
    const answer = await reader("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 404 ? undefined : answer.json();
  }, "the component");
}

/** Grants a user the right to read the app, as its owner would. */
export async function share(
  { server: { app } }: TestServer,
  extra_perms: Record<string, boolean>,
): Promise<void> {
  const { apps } = await import("../../../../src/features/code/apps/tables.ts");
  await app.db.write((tx) => tx.update(apps).set({ extra_perms }));
}
