/** A workspace with data for every page. */
import type { Serving } from "../e2e/executable.ts";

export interface SampleWorkspace {
  token: string;
  /** Ids of jobs. */
  failed: string;
  table: string;
  flow: string;
  ask: (method: string, path: string, body?: unknown) => Promise<string>;
  /** Waits for the end of a run. @returns its id */
  ended: (id: string) => Promise<string>;
  /** Runs a script to its end, successful or not. */
  run: (path: string, args: unknown) => Promise<string>;
  script: (path: string, content: string, more?: object) => Promise<void>;
}

export const EMAIL = "ann@example.org";
export const PASSWORD = "correct horse battery";

export async function createSampleWorkspace(serving: Serving): Promise<SampleWorkspace> {
  const account = { email: EMAIL, password: PASSWORD, super_admin: true, username: "ann" };
  await serving.operator("/users/create", account);
  const token = await serving.operator("/users/tokens/impersonate", { impersonate_email: EMAIL });
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${serving.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  };
  await ask("POST", "/workspaces/create", { id: "acme", name: "Acme", username: "ann" });
  await ask("POST", "/w/acme/folders/create", { name: "finance" });
  const script = async (path: string, content: string, more: object = {}) => {
    await ask("POST", "/w/acme/scripts/create", { path, content, language: "bun", summary: "", ...more });
  };
  const ended = async (id: string) => {
    for (const until = Date.now() + 30_000; Date.now() < until; await Bun.sleep(50)) {
      const { completed } = JSON.parse(await ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`));
      if (completed) return id;
    }
    throw new Error(`job ${id} did not end`);
  };
  const run = async (path: string, args: unknown) =>
    ended(await ask("POST", `/w/acme/jobs/run/p/${path}`, args));
  await script("f/finance/refund", REFUND, { summary: "Refund an order", schema: REFUND_SCHEMA });
  await script("f/finance/figures", FIGURES, { summary: "Figures of the day" });
  await script("u/ann/hello", `export const main = (name = "world") => "Hello " + name;`);
  await ask("POST", "/w/acme/flows/create", {
    path: "f/finance/nightly",
    summary: "Nightly report",
    description: "",
    value: { modules: [step("a", "f/finance/figures"), step("b", "u/ann/hello")] },
    schema: { type: "object", properties: {} },
  });
  const failed = await run("f/finance/refund", { order: 7, reason: "damaged" });
  const table = await run("f/finance/figures", {});
  await run("u/ann/hello", { name: "Bob" });
  const flow = await ended(await ask("POST", "/w/acme/jobs/run/f/f/finance/nightly", {}));
  return { token, failed, table, flow, ask, ended, run, script };
}

const step = (id: string, path: string) => ({ id, value: { type: "script", path, input_transforms: {} } });

const REFUND = `type Order = { id: number };

function customerOf(order: Order): string {
  throw new Error("no such customer");
}

export async function main(order: number, reason: string) {
  console.log("\\u001b[32mlooking\\u001b[0m for the customer of order", order);
  return customerOf({ id: order });
}
`;

const REFUND_SCHEMA = {
  type: "object",
  required: ["order", "reason"],
  order: ["order", "reason", "when", "notes", "items", "extra"],
  properties: {
    order: { type: "integer", description: "Number of the order" },
    reason: { type: "string", enum: ["damaged", "late", "other"], default: "damaged" },
    when: { type: "string", format: "date-time" },
    notes: { type: "string", description: "What the customer said" },
    items: {
      type: "array",
      items: { type: "object", properties: { name: { type: "string" }, count: { type: "integer" } } },
    },
    extra: { type: "object" },
  },
};

const FIGURES = `export const main = () =>
  Array.from({ length: 40 }, (_, day) => ({ day: day + 1, orders: (day * 37) % 90, revenue: (day * 7919) % 10_000 }));
`;

/** A further member of the workspace, who is not an admin. */
export async function createMember(
  serving: Serving,
  { ask }: SampleWorkspace,
  username: string,
  operator = false,
) {
  const email = `${username}@example.org`;
  await serving.operator("/users/create", { email, password: PASSWORD, super_admin: false });
  await ask("POST", "/w/acme/workspaces/add_user", { email, username, is_admin: false, operator });
}
