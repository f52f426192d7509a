/** Who may do what, said once as a table and tried through the front door with real tokens. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { users } from "../../../src/features/tenancy/people/user-tables.ts";
import { canManage, canRead, canWrite } from "../../../src/platform/access/permissions.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";

let server: TestServer;
const as: Record<string, Ask> = {};

/** Entries of the items that are called `shared`. */
const SHARED = { "u/grouped": false, "u/reader": true, "u/writer": false, "g/ops": true, "u/viewer": true };
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
 * r reads, lists and runs, w also writes, m also renames and archives; - is told that there is nothing; x is not a member.
 * Folder data is owned by owner, foreman and the group leads (lead is in it); writer writes, reader, viewer and the group
 * ops (grouped is in it) read. Folder gone was never made. viewer and foreman are operators.
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

const OPERATORS = ["viewer", "foreman"];

const cases = MATRIX.trim()
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

/** How each kind of item is asked for each right. Nothing of it changes what is there. */
interface Kind {
  create: (ask: Ask, path: string) => ReturnType<Ask>;
  /** What making one is answered; left out, 201. */
  created?: number;
  read: (path: string) => string[];
  list: string;
  run?: (path: string) => string;
  /** With the right it is refused for another reason, or done without a trace. */
  write: (ask: Ask, path: string) => ReturnType<Ask>;
  writes: number;
  /** Left out where nothing is for owners alone. */
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
const FAR = "scheduled_for=2090-01-01T00:00:00Z";

const KINDS: Record<string, Kind> = {
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

beforeAll(async () => {
  server = await startTestServer();
  const admin = (await server.workspace()).ask;
  as.admin = admin;
  as["super admin"] = (await server.user("root", { super_admin: true })).ask;
  for (const name of ["ann", "owner", "lead", "writer", "reader", "grouped", "stranger"]) {
    as[name] = (await server.member("acme", name)).ask;
  }
  for (const name of OPERATORS) as[name] = (await server.member("acme", name, "operator")).ask;
  const devops = await server.user("devops");
  await server.server.app.db.write((tx) =>
    tx.update(users).set({ devops: true }).where(eq(users.email, devops.email)),
  );
  as.devops = devops.ask;
  as.outsider = (await server.user("outsider")).ask;
  as.nobody = server.as(undefined);

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
    // The first of two versions, so that it can be archived as often as it is tried.
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

/** Kinds that are made in one step. */
const others = Object.values(KINDS).filter((kind) => kind !== KINDS.script);

/** What a role with a right is answered: the status of each way to use it. */
function expected(kind: Kind, role: string, right: Right) {
  const isMember = right !== "x";
  const reads = isMember && right !== "-";
  const operator = OPERATORS.includes(role);
  const refused = operator ? 403 : reads ? 403 : 404;
  const writes = right === "w" || right === "m";
  return {
    read: !isMember ? 401 : reads ? 200 : 404,
    listed: !isMember ? 401 : reads,
    run: !isMember ? 401 : reads ? 201 : 404,
    // Deploying a script reads nothing, so it hides nothing.
    write: !isMember ? 401 : writes ? kind.writes : kind === KINDS.script ? 403 : refused,
    manage: !isMember ? 401 : right === "m" ? kind.manages! : refused,
  };
}

test.each(cases)("%s: %s at %s", async (role, right, path) => {
  const ask = as[role]!;
  for (const [name, kind] of Object.entries(KINDS)) {
    const told = expected(kind, role, right);
    for (const url of kind.read(path)) {
      expect([url, (await ask("GET", `/w/acme/${url}`)).status]).toEqual([url, told.read]);
    }
    const list = await ask("GET", `/w/acme/${kind.list}`);
    const listed =
      list.status === 200 ? list.json().some((item: { path: string }) => item.path === path) : list.status;
    expect([kind.list, listed]).toEqual([kind.list, told.listed]);
    if (kind.run) {
      const answer = await ask("POST", `/w/acme/jobs/${kind.run(path)}?${FAR}`, {});
      expect([name, "run", answer.status]).toEqual([name, "run", told.run]);
    }
    expect([name, "write", (await kind.write(ask, path)).status]).toEqual([name, "write", told.write]);
    if (!kind.manage) continue;
    expect([name, "manage", (await kind.manage(ask, path)).status]).toEqual([name, "manage", told.manage]);
  }
});

test.each(cases.filter(([, , path]) => path.endsWith("/plain")))(
  "%s: %s, to create beside %s",
  async (role, right, path) => {
    const place = path.replace(/\/plain$/, "");
    const writes = right === "w" || right === "m";
    for (const [name, kind] of Object.entries(KINDS)) {
      const status = right === "x" ? 401 : writes ? (kind.created ?? 201) : 403;
      const made = `${place}/by_${role.replace(" ", "_")}_${name}`;
      expect([made, (await kind.create(as[role]!, made)).status]).toEqual([made, status]);
    }
    // A draft is kept where one may deploy.
    const draft = { path: `${place}/draft`, typ: "flow", value: {} };
    const kept = await as[role]!("POST", "/w/acme/drafts/create", draft);
    expect(kept.status).toBe(right === "x" ? 401 : writes ? 201 : 403);
  },
);

test.each(cases)("%s: %s, to change rights to %s", async (role, right, path) => {
  const reads = right !== "x" && right !== "-";
  const refused = OPERATORS.includes(role) || reads ? 403 : 404;
  const writes = right === "w" || right === "m";
  for (const kind of Object.keys(KINDS)) {
    const acls = (verb: string) => `/w/acme/acls/${verb}/${kind}/${path}`;
    const get = await as[role]!("GET", acls("get"));
    expect(get.status).toBe(right === "x" ? 401 : reads ? 200 : 404);
    if (reads) expect(get.json()).toEqual(path.endsWith("/shared") ? SHARED : {});
    const add = await as[role]!("POST", acls("add"), { owner: "u/admin", write: true });
    expect(add.status).toBe(right === "x" ? 401 : writes ? 200 : refused);
    const remove = await as[role]!("POST", acls("remove"), { owner: "u/admin" });
    expect(remove.status).toBe(right === "x" ? 401 : writes ? 200 : refused);
  }
});

test("operators write nothing with any item; as admins they do", () => {
  const operator = {
    workspace_id: "acme",
    email: "ops@example.org",
    username: "ops",
    is_admin: false,
    operator: true,
    disabled: false,
    created_at: new Date(),
    groups: ["ops"],
    folders: new Map([["data", "owner"]] as const),
  };
  for (const path of ["u/ops/x", "g/ops/x", "f/data/x", "u/ann/x"]) {
    const asked = [canRead, canWrite].map((can) => can(operator, path, { "u/ops": true }));
    expect([path, ...asked, canManage(operator, path)]).toEqual([path, true, false, false]);
    const admin = { ...operator, is_admin: true };
    expect([canWrite(admin, path, {}), canManage(admin, path)]).toEqual([true, true]);
  }
});
