/** Every kind of item, who has which right on it, and the calls that read, write and share it. */
import { afterAll, beforeAll } from "bun:test";
import { eq } from "drizzle-orm";
import { users } from "../../../../src/features/tenancy/people/user-tables.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
export const askAs: Record<string, Ask> = {};

/** Grants on the items called `shared`. */
export const SHARED = {
  "u/grouped": false,
  "u/reader": true,
  "u/writer": false,
  "g/ops": true,
  "u/viewer": true,
};
const PLACES = ["u/ann", "g/ops", "f/data", "f/gone", "f/app_themes"];
const ITEMS = [
  "u/ann/plain",
  "u/ann/shared",
  "g/ops/plain",
  "f/data/plain",
  "f/data/shared",
  "f/gone/plain",
  "f/app_themes/plain",
] as const;

/**
 * r reads, lists and runs, w also writes, m also renames and archives; - is answered as if nothing existed; x
 * is not a member. Folder data is owned by owner, foreman and the group leads (lead is in it); writer writes,
 * reader, viewer and the group ops (grouped is in it) read. Folder gone does not exist. viewer and foreman are
 * operators.
 */
const MATRIX = `
                 u/ann/plain  u/ann/shared  g/ops/plain  f/data/plain  f/data/shared  f/gone/plain  f/app_themes/plain
admin            m            m             m            m             m              m             m
super admin      m            m             m            m             m              m             m
ann              m            m             -            -             -              -             r
owner            -            -             -            m             m              -             r
lead             -            -             -            m             m              -             r
writer           -            r             -            w             w              -             r
reader           -            w             -            r             w              -             r
grouped          -            w             m            r             w              -             r
stranger         -            -             -            -             -              -             r
viewer           -            r             -            r             r              -             r
foreman          -            -             -            r             r              -             r
devops           x            x             x            x             x              x             x
outsider         x            x             x            x             x              x             x
nobody           x            x             x            x             x              x             x
`;

type Right = "-" | "r" | "w" | "m" | "x";

export const OPERATORS = ["viewer", "foreman"];

export const CASES = MATRIX.trim()
  .split("\n")
  .slice(1)
  .flatMap((line) => {
    const [role, ...rights] = line.split(/\s{2,}/);
    return rights.map((right, index) => [role!, right as Right, ITEMS[index]!] as const);
  });

const FLOW = { summary: "", value: { modules: [{ id: "a", value: { type: "identity" } }] } };
const SCRIPT = { content: "export const main = () => 1", language: "bun" };
const VARIABLE = { value: "1", is_secret: false, description: "" };
const RESOURCE = { value: {}, resource_type: "any" };

/** Requests that need each right on a kind of item, without changing it. */
interface Kind {
  create: (ask: Ask, path: string) => ReturnType<Ask>;
  /** Status of a successful creation; default 201. */
  created?: number;
  read: (path: string) => string[];
  list: string;
  run?: (path: string) => string;
  /** With the right, it is rejected for another reason, or has no effect. */
  write: (ask: Ask, path: string) => ReturnType<Ask>;
  writes: number;
  /** Absent if nothing is reserved for owners. */
  manage?: (ask: Ask, path: string) => ReturnType<Ask>;
  manages?: number;
}

const RUNS = { script_path: "f/app_themes/plain", is_flow: false };
const HOURLY = { schedule: "0 0 * * * *", timezone: "Etc/UTC", args: {}, enabled: false };
const ROUTE = { workspaced_route: true, http_method: "post", enabled: false };
const FEED = { url: "wss://example.org/", enabled: false };
const APP = { summary: "", value: {}, policy: {} };
const route = (path: string, at = path) => ({ ...RUNS, ...ROUTE, path: at, route_path: `of/${path}` });

const beside = (path: string) => `${path.split("/").slice(0, 2).join("/")}/taken`;
const hashes: Record<string, string> = {};

export const KINDS: Record<string, Kind> = {
  script: {
    create: (ask, path) => ask("POST", "/w/acme/scripts/create", { ...SCRIPT, path, lock: "" }),
    read: (path) => [
      `scripts/get/p/${path}`,
      `scripts/get/h/${hashes[path]}`,
      `scripts/raw/p/${path}`,
      `scripts/history/p/${path}`,
    ],
    list: "scripts/list",
    run: (path) => `run/p/${path}`,
    write: (ask, path) => ask("POST", "/w/acme/scripts/create", { ...SCRIPT, path, parent_hash: "0" }),
    writes: 400,
    manage: (ask, path) => ask("POST", `/w/acme/scripts/archive/h/${hashes[path]}`),
    manages: 200,
  },
  flow: {
    create: (ask, path) => ask("POST", "/w/acme/flows/create", { ...FLOW, path }),
    read: (path) => [`flows/get/${path}`, `flows/history/p/${path}`, `flows/get/draft/${path}`],
    list: "flows/list",
    run: (path) => `run/f/${path}`,
    write: (ask, path) => ask("POST", `/w/acme/flows/update/${path}`, { ...FLOW, path }),
    writes: 200,
    manage: (ask, path) => ask("POST", `/w/acme/flows/update/${path}`, { ...FLOW, path: beside(path) }),
    manages: 400,
  },
  variable: {
    create: (ask, path) => ask("POST", "/w/acme/variables/create", { ...VARIABLE, path }),
    read: (path) => [`variables/get/${path}`, `variables/get_value/${path}`],
    list: "variables/list",
    write: (ask, path) => ask("POST", `/w/acme/variables/update/${path}`, { description: "seen" }),
    writes: 200,
    manage: (ask, path) => ask("POST", `/w/acme/variables/update/${path}`, { path: beside(path) }),
    manages: 400,
  },
  resource: {
    create: (ask, path) => ask("POST", "/w/acme/resources/create", { ...RESOURCE, path }),
    read: (path) => [
      `resources/get/${path}`,
      `resources/get_value/${path}`,
      `resources/get_value_interpolated/${path}`,
    ],
    list: "resources/list",
    write: (ask, path) => ask("POST", `/w/acme/resources/update/${path}`, { description: "seen" }),
    writes: 200,
    manage: (ask, path) => ask("POST", `/w/acme/resources/update/${path}`, { path: beside(path) }),
    manages: 400,
  },
  app: {
    create: (ask, path) => ask("POST", "/w/acme/apps/create", { ...APP, path }),
    read: (path) => [`apps/get/p/${path}`, `apps/history/p/${path}`, `apps/secret_of/${path}`],
    list: "apps/list",
    write: (ask, path) => ask("POST", `/w/acme/apps/update/${path}`, { summary: "" }),
    writes: 200,
    manage: (ask, path) => ask("POST", `/w/acme/apps/update/${path}`, { path: beside(path) }),
    manages: 400,
  },
  raw_app: {
    create: (ask, path) => ask("POST", "/w/acme/raw_apps/create", { path, value: "1", summary: "" }),
    read: () => [],
    list: "raw_apps/list",
    write: (ask, path) => ask("POST", `/w/acme/raw_apps/update/${path}`, { summary: "" }),
    writes: 200,
    manage: (ask, path) => ask("POST", `/w/acme/raw_apps/update/${path}`, { path: beside(path) }),
    manages: 400,
  },
  schedule: {
    create: (ask, path) => ask("POST", "/w/acme/schedules/create", { ...RUNS, ...HOURLY, path }),
    read: (path) => [`schedules/get/${path}`],
    list: "schedules/list",
    write: (ask, path) => ask("POST", `/w/acme/schedules/setenabled/${path}`, { enabled: false }),
    writes: 200,
  },
  http_trigger: {
    create: (ask, path) => ask("POST", "/w/acme/http_triggers/create", route(path)),
    read: (path) => [`http_triggers/get/${path}`],
    list: "http_triggers/list",
    write: (ask, path) => ask("POST", `/w/acme/http_triggers/update/${path}`, route(path)),
    writes: 200,
    manage: (ask, path) => ask("POST", `/w/acme/http_triggers/update/${path}`, route(path, beside(path))),
    manages: 400,
  },
  websocket_trigger: {
    create: (ask, path) => ask("POST", "/w/acme/websocket_triggers/create", { ...RUNS, ...FEED, path }),
    read: (path) => [`websocket_triggers/get/${path}`],
    list: "websocket_triggers/list",
    write: (ask, path) =>
      ask("POST", `/w/acme/websocket_triggers/update/${path}`, { ...RUNS, ...FEED, path }),
    writes: 200,
    manage: (ask, path) =>
      ask("POST", `/w/acme/websocket_triggers/update/${path}`, { ...RUNS, ...FEED, path: beside(path) }),
    manages: 400,
  },
};

/** Representative of the kinds that are stored and not run, which share their code. */
KINDS.kafka_trigger = {
  create: (ask, path) => ask("POST", "/w/acme/kafka_triggers/create", { ...RUNS, path }),
  read: (path) => [`kafka_triggers/get/${path}`],
  list: "kafka_triggers/list",
  write: (ask, path) => ask("POST", `/w/acme/kafka_triggers/update/${path}`, { ...RUNS, path }),
  writes: 200,
  manage: (ask, path) =>
    ask("POST", `/w/acme/kafka_triggers/update/${path}`, { ...RUNS, path: beside(path) }),
  manages: 400,
};

/** Kinds that are created by one request. */
const others = Object.values(KINDS).filter((kind) => kind !== KINDS.script);

/** Returns the expected status of each request for a role with a right. */
export function expected(kind: Kind, role: string, right: Right) {
  const isMember = right !== "x";
  const reads = isMember && right !== "-";
  const operator = OPERATORS.includes(role);
  const refused = operator ? 403 : reads ? 403 : 404;
  const writes = right === "w" || right === "m";
  return {
    read: !isMember ? 401 : reads ? 200 : 404,
    listed: !isMember ? 401 : reads,
    run: !isMember ? 401 : reads ? 201 : 404,
    // Deploying a script reads nothing, so there is nothing to hide.
    write: !isMember ? 401 : writes ? kind.writes : kind === KINDS.script ? 403 : refused,
    manage: !isMember ? 401 : right === "m" ? kind.manages! : refused,
  };
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpKinds(): void {
  beforeAll(async () => {
    server = await startTestServer();
    const admin = (await server.workspace()).ask;
    askAs.admin = admin;
    askAs["super admin"] = (await server.user("root", { super_admin: true })).ask;
    for (const name of ["ann", "owner", "lead", "writer", "reader", "grouped", "stranger"]) {
      askAs[name] = (await server.member("acme", name)).ask;
    }
    for (const name of OPERATORS) askAs[name] = (await server.member("acme", name, "operator")).ask;
    const devops = await server.user("devops");
    await server.server.app.db.write((tx) =>
      tx.update(users).set({ devops: true }).where(eq(users.email, devops.email)),
    );
    askAs.devops = devops.ask;
    askAs.outsider = (await server.user("outsider")).ask;
    askAs.nobody = server.as(undefined);

    for (const [group, username] of [
      ["ops", "grouped"],
      ["leads", "lead"],
    ]) {
      await expectOk(admin("POST", "/w/acme/groups/create", { name: group }));
      await expectOk(admin("POST", `/w/acme/groups/adduser/${group}`, { username }));
    }
    await expectOk(
      admin("POST", "/w/acme/folders/create", {
        name: "data",
        owners: ["u/owner", "u/foreman", "g/leads"],
        extra_perms: { "u/writer": true, "u/reader": false, "u/viewer": false, "g/ops": false },
      }),
    );
    for (const path of [...ITEMS, ...PLACES.map((place) => `${place}/taken`)]) {
      // The first of two versions, so that it can be archived repeatedly.
      hashes[path] = await deploy(admin, "acme", path, `${SCRIPT.content} // 0`);
      await deploy(admin, "acme", path, SCRIPT.content);
    }
    for (const path of [...ITEMS, ...PLACES.map((place) => `${place}/taken`)]) {
      for (const kind of others) await expectOk(kind.create(admin, path));
      if (!path.endsWith("/shared")) continue;
      for (const kind of Object.keys(KINDS)) {
        for (const [owner, write] of Object.entries(SHARED)) {
          await expectOk(admin("POST", `/w/acme/acls/add/${kind}/${path}`, { owner, write }));
        }
      }
    }
  });
  afterAll(() => server.stop());
}
