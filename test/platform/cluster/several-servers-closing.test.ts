/**
 * A workspace is renamed, archived or deleted while another server of its database is blocked: what that server
 * was about to store is moved along, or is not stored at all.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eq } from "drizzle-orm";
import { workers } from "../../../src/platform/cluster/tables.ts";
import { jobs } from "../../../src/platform/queue/tables.ts";
import {
  type Ask,
  createDatabase,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";
import { type CuttableProxy, startProxy } from "../../support/peers/cuttable-proxy.ts";
import { SVC_SECRET_KEY } from "../../support/two-servers.ts";

setDefaultTimeout(60_000);

const postgres = process.env.DATABASE_URL;
/** Applies to queued jobs, so that nothing is canceled because it runs. */
const LATER = "scheduled_in_secs=86400";
const RUN = "jobs/run/p/u/admin/one";

interface Servers extends AsyncDisposable {
  front: TestServer;
  /** Connects to the database through `way`. */
  back: TestServer;
  way: CuttableProxy;
  /** A workspace with a script that the back server has cached. */
  workspace: (id: string) => Promise<{ atFront: Ask; atBack: Ask }>;
}

async function startServers(lease_s: number): Promise<Servers> {
  const database = await createDatabase(postgres!, "migrated");
  const { hostname, port } = new URL(database.url);
  const way = await startProxy({ hostname, port: Number(port) });
  const through = new URL(database.url);
  through.port = String(way.port);
  const both = { secret_key: SVC_SECRET_KEY, lease_s };
  const front = await startTestServer({ ...both, database_url: database.url });
  const back = await startTestServer({ ...both, database_url: through.href });
  return {
    front,
    back,
    way,
    async workspace(id) {
      const { token, ask } = await front.workspace(id);
      await deploy(ask, id, "u/admin/one", "export const main = () => 1");
      const atBack = back.as(token);
      await expectOk(atBack("POST", `/w/${id}/${RUN}?${LATER}`, {}));
      // Live servers are known by their rows.
      await until(async () => {
        const { length } = (await expectOk(ask("GET", "/workers/list"))).json<unknown[]>();
        return length === 2 || undefined;
      }, "both in the list of workers");
      return { atFront: ask, atBack };
    },
    async [Symbol.asyncDispose]() {
      way.mend();
      await back.stop();
      await front.stop();
      way[Symbol.dispose]();
      await database.drop();
    },
  };
}

const jobsOf = ({ front }: Servers, workspace_id: string) =>
  front.server.app.db.read
    .select({ id: jobs.id, state: jobs.state })
    .from(jobs)
    .where(eq(jobs.workspace_id, workspace_id));

/** The back server has accepted the call and is about to store its job. */
const isStoring = ({ back }: Servers) =>
  until(() => back.server.app.db.channel && isPending(back.server.app.db.channel.awaitWrites()), "a write");

/** True for a pending promise, undefined for a settled one. */
async function isPending(promise: Promise<unknown>): Promise<true | undefined> {
  const pending = {};
  return (await Promise.race([promise, Promise.resolve(pending)])) === pending || undefined;
}

describe.skipIf(!postgres)("while another server hangs", () => {
  describe("for less than a lease", () => {
    let servers: Servers;
    beforeAll(async () => {
      servers = await startServers(300);
    });
    afterAll(() => servers[Symbol.asyncDispose]());

    test.each(["move", "delete"])(
      "to %s a workspace waits for requests that it has accepted",
      async (how) => {
        const { way, front } = servers;
        const { atFront, atBack } = await servers.workspace(how);
        way.cut();
        const called = atBack("POST", `/w/${how}/${RUN}?${LATER}`, {});
        await isStoring(servers);
        let isDone = false;
        const done = (
          how === "move"
            ? atFront("POST", "/w/move/workspaces/change_workspace_id", {
                new_id: "moved",
                new_name: "moved",
              })
            : front.operator("DELETE", `/workspaces/delete/${how}`)
        ).then((answer) => {
          isDone = true;
          return answer;
        });
        // Longer than any pause that could be mistaken for being blocked.
        await Bun.sleep(1_500);
        expect(isDone).toBe(false);
        way.mend();
        const { status, text } = await called;
        expect((await done).status).toBe(200);
        expect(await jobsOf(servers, how)).toEqual([]);
        if (how === "delete") return;
        expect(status).toBe(201);
        expect((await jobsOf(servers, "moved")).map(({ id }) => id)).toContain(text);
      },
    );
  });

  describe("for longer than a lease", () => {
    let servers: Servers;
    beforeAll(async () => {
      servers = await startServers(2);
    });
    afterAll(() => servers[Symbol.asyncDispose]());

    test("a live server that does not respond is waited for as long, and no longer", async () => {
      const { app } = servers.front.server;
      const { atFront } = await servers.workspace("unheard");
      const [row] = await app.db.read.select().from(workers).limit(1);
      const last_ping = new Date(app.clock().getTime() + 3_600_000);
      await app.db.write((tx) => tx.insert(workers).values({ ...row!, name: "deaf", last_ping }));
      const body = { new_id: "heard", new_name: "heard" };
      await expectOk(atFront("POST", "/w/unheard/workspaces/change_workspace_id", body));
      await app.db.write((tx) => tx.delete(workers).where(eq(workers.name, "deaf")));
      expect((await jobsOf(servers, "heard")).length).toBeGreaterThan(0);
    });

    const run = (atBack: Ask, id: string) => atBack("POST", `/w/${id}/${RUN}?${LATER}`, {});
    /** Deploys a script that needs a package, so that a job resolves it. */
    const deploys = (atBack: Ask, id: string) =>
      atBack("POST", `/w/${id}/scripts/create`, {
        path: "u/admin/new",
        language: "bun",
        content: 'import pad from "left-pad"; export const main = () => pad("a", 2);',
      });

    test.each([
      ["move", "runs", run],
      ["delete", "runs", run],
      ["archive", "runs", run],
      ["move", "deploys", deploys],
    ] as const)(
      "to %s a workspace does not wait, and what it %s is not stored when it is back",
      async (how, what, call) => {
        const { way, front } = servers;
        const id = `${how}-${what}`;
        const { atFront, atBack } = await servers.workspace(id);
        way.cut();
        const called = call(atBack, id);
        await isStoring(servers);
        const { status } = await {
          move: () =>
            atFront("POST", `/w/${id}/workspaces/change_workspace_id`, { new_id: `new-${id}`, new_name: id }),
          delete: () => front.operator("DELETE", `/workspaces/delete/${id}`),
          archive: () => atFront("POST", `/w/${id}/workspaces/archive`),
        }[how]();
        expect(status).toBe(200);
        way.mend();
        // Rejected when it is stored, or earlier, if it was not cached and the database was asked.
        expect([400, 401, 404]).toContain((await called).status);
        const left = await jobsOf(servers, id);
        expect(left.filter(({ state }) => state !== "completed")).toEqual([]);
        expect(left.length).toBe(how === "archive" ? 1 : 0);
      },
    );
  });
});
