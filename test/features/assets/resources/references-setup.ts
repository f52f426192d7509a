/** A server with variables and resources that the arguments of jobs refer to. */
import { afterAll, beforeAll } from "bun:test";
import { stripLogHeader } from "../../../../src/features/runs/job/log-header.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

export const SECRET = "s3cr3t-of-the-house-4711";
export const KEY = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n"quoted" = yes\n-----END KEY-----';

export let server: TestServer;
export let ask: Ask;
export let dev: Ask;

export const variable = (to: Ask, path: string, value: string, is_secret = true) =>
  expectOk(to("POST", "/w/acme/variables/create", { path, value, is_secret, description: "" }));
const resource = (to: Ask, path: string, value: unknown) =>
  expectOk(to("POST", "/w/acme/resources/create", { path, value, resource_type: "any" }));

interface Ended {
  id: string;
  success: boolean;
  result: any;
  args: any;
  log: string;
}

/** Waits for a job's end. */
export async function ended(id: string, to = ask): Promise<Ended> {
  const job = await until(async () => {
    const answer = await to("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json<Ended>() : undefined;
  }, `job ${id}`);
  const result = (await to("GET", `/w/acme/jobs_u/completed/get_result/${id}`)).json();
  return { ...job, result, log: stripLogHeader((await to("GET", `/w/acme/jobs_u/get_logs/${id}`)).text) };
}

export const run = async (path: string, args: unknown, to = ask) =>
  ended((await expectOk(to("POST", `/w/acme/jobs/run/p/${path}`, args))).text, to);

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpReferences(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask } = await server.workspace());
    dev = (await server.member("acme", "dev")).ask;
    await variable(ask, "u/admin/secret", SECRET);
    await variable(ask, "u/admin/key", KEY);
    await variable(ask, "u/admin/region", "eu-1", false);
    await variable(dev, "u/dev/own", "of dev", false);
    await resource(ask, "u/admin/db", {
      host: "db.example.org",
      password: "$var:u/admin/secret",
      hosts: ["$var:u/admin/region"],
    });
    await resource(ask, "u/admin/app", { db: "$res:u/admin/db", home: "$WM_WORKSPACE" });
    await resource(ask, "u/admin/one", { next: "$res:u/admin/two" });
    await resource(ask, "u/admin/two", { next: "$res:u/admin/one" });
    await resource(ask, "u/admin/dangling", { password: "$var:u/admin/gone" });
    await deploy(ask, "acme", "u/admin/echo", "export const main = (x: unknown) => x");
    await deploy(dev, "acme", "u/dev/echo", "export const main = (x: unknown) => x");
  });
  afterAll(() => server.stop());
}
