/** A workspace with a secret, whose key is rotated. */
import { afterAll, beforeAll } from "bun:test";
import type { Database } from "../../../../src/database/database.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

export const SECRET = "what-the-old-key-sealed";

export let server: TestServer;
export let ask: Ask;
export let token: string;

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpSealing(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask, token } = await server.workspace());
    const schema = { type: "object", properties: { x: { type: "string", format: "password" } } };
    await deploy(
      ask,
      "acme",
      "u/admin/tell",
      "export const main = (x: string) => [...x].reverse().join('')",
      {
        schema,
      },
    );
    const variable = { path: "u/admin/secret", value: SECRET, is_secret: true, description: "" };
    await expectOk(ask("POST", "/w/acme/variables/create", variable));
  });
  afterAll(() => server.stop());
}

let keys = 0;
/** Rotates twice, so that no cached key can decrypt old values. */
export async function exchange(): Promise<void> {
  for (let n = 0; n < 2; n++) {
    const new_key = `${++keys}`.padStart(64, "k");
    await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", { new_key }));
  }
}

export const readCiphertexts = async () =>
  `$encrypted:${(await expectOk(ask("POST", "/w/acme/variables/encrypt", JSON.stringify(SECRET)))).text}`;
export const ended = (id: string): Promise<any> =>
  until(async () => {
    const job = (await expectOk(ask("GET", `/w/acme/jobs_u/get/${id}`))).json();
    return job.type === "CompletedJob" ? job : undefined;
  }, "the job's end");
export const start = async (path: string, args: object = {}) =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/${path}`, args))).text;
export const resultOf = async (path: string, args: object = {}) =>
  (await ended(await start(path, args))).result;

export const REVERSED_SECRET = [...SECRET].reverse().join("");

/**
 * Rotates the key when the next value is on its way to the database: encrypted, but not stored.
 * @param reads secrets that are read before, each of which stores its audit row
 */
export function exchangeBeforeNextWrite(reads = 0): void {
  const db = server.server.app.db as { write: Database["write"] };
  const { write } = db;
  db.write = async (work) => {
    if (reads-- > 0) return write(work);
    db.write = write;
    await expectOk(
      ask("POST", "/w/acme/workspaces/encryption_key", { new_key: `${++keys}`.padStart(64, "k") }),
    );
    return write(work);
  };
}
