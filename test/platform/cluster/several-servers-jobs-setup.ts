/** Two servers on one PostgreSQL, of which only one claims jobs. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, until } from "../../support/harness.ts";
import { rootOf, startTwoServers, type TwoServers } from "../../support/two-servers.ts";

/** Starts a server on which a script waits until the promise resolves. */
export function holdGate(until: Promise<void>) {
  const gate = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: () => until.then(() => new Response("go")),
  });
  return { url: gate.url.href, [Symbol.dispose]: () => void gate.stop(true) };
}

export let both: TwoServers;
export let ask: Ask;
export let back: Ask;
export let token: string;
let root: Awaited<ReturnType<typeof rootOf>>;
export const ACME = "/w/acme";
export const setTags = (worker_tags: string[]) =>
  expectOk(root.ask("POST", "/configs/update/worker__front", { worker_tags }));

export const step = (id: string, content: string, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: {} },
  ...more,
});
let flows = 0;
export async function deployFlow(modules: object[], more: object = {}): Promise<string> {
  const path = `u/admin/flow_${++flows}`;
  await expectOk(ask("POST", `${ACME}/flows/create`, { path, summary: "", value: { modules, ...more } }));
  return path;
}
export const run = async (path: string, args: object = {}, from = ask) =>
  (await expectOk(from("POST", `${ACME}/jobs/run/${path}`, args))).text;
export const getJob = async (id: string) => (await expectOk(ask("GET", `${ACME}/jobs_u/get/${id}`))).json();
export const jobEnd = (id: string) =>
  until(async () => {
    const job = await getJob(id);
    return job.type === "CompletedJob" ? job : undefined;
  }, "the end");
export const running = (id: string) =>
  until(() => both.back.server.app.queue.has(id) || undefined, "the job at the back");

/** Calls the server at each of its two addresses, and returns the responses. */
export const CALLS = `export async function main(variable: string, path: string) {
  const call = async (base: string) => {
    const answer = await fetch(base + path, { headers: { authorization: "Bearer " + process.env.WM_TOKEN } });
    return [answer.status, await answer.text()];
  };
  const said = [await call(process.env.BASE_INTERNAL_URL!), await call(process.env.BASE_URL!)];
  console.log(JSON.stringify(said), process.env.BASE_URL);
  return { said, token: process.env.WM_TOKEN!.split("").join(" ") };
}`;

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpJobServers(): void {
  beforeAll(async () => {
    both = await startTwoServers({ allowed_targets: "127.0.0.1" });
    ({ ask, token } = both.admin);
    back = both.atBack;
    // Only the back server runs scripts.
    root = await rootOf(both);
    await setTags(["dependency"]);
    await expectOk(root.ask("POST", "/settings/global/base_url", { value: both.front.url }));
  });
  afterAll(() => both?.stop());
}
