/** Two servers on one PostgreSQL, each with its own files. */
import { type Ask, createDatabase, expectOk, startTestServer, type TestServer } from "./harness.ts";

export const SVC_SECRET_KEY = "0123456789abcdef0123456789abcdef";

export interface TwoServers {
  database_url: string;
  /** Accepts calls, and has one slot; in the group `front`. */
  front: TestServer;
  back: TestServer;
  /** The admin of `acme`, calling the front server, and the same at the back. */
  admin: { token: string; ask: Ask };
  atBack: Ask;
  stop: () => Promise<void>;
}

export async function startTwoServers(more: Parameters<typeof startTestServer>[0] = {}): Promise<TwoServers> {
  const database = await createDatabase(process.env.DATABASE_URL!, "migrated");
  const both = { database_url: database.url, secret_key: SVC_SECRET_KEY, ...more };
  const front = await startTestServer({ ...both, workers: 1, worker_group: "front" });
  const back = await startTestServer(both);
  const admin = await front.workspace();
  return {
    database_url: database.url,
    front,
    back,
    admin,
    atBack: back.as(admin.token),
    async stop() {
      await back.stop();
      await front.stop();
      await database.drop();
    },
  };
}

/** Polls the other server for the expected response. The limit is far below its own polling intervals. */
export async function expectEventually<T>(ask: () => Promise<T>, wanted: T): Promise<T> {
  const end = Date.now() + 4_000;
  let last = await ask();
  while (!Bun.deepEquals(last, wanted) && Date.now() < end) {
    await Bun.sleep(10);
    last = await ask();
  }
  return last;
}

/** A super admin's calls of both. */
export async function rootOf({ front, back }: TwoServers): Promise<{ ask: Ask; atBack: Ask }> {
  const { token, ask } = await front.user("root", { super_admin: true });
  const atBack = back.as(token);
  await expectOk(atBack("GET", "/users/whoami"));
  return { ask, atBack };
}
