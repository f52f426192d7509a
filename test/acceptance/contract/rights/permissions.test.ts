/** A table of rights, checked by HTTP requests with real tokens. */
import { expect, test } from "bun:test";
import { canManage, canRead, canWrite } from "../../../../src/platform/access/permissions.ts";
import { askAs, CASES, expected, KINDS, OPERATORS, SHARED, setUpKinds } from "./permission-cases.ts";

setUpKinds();

const FAR = "scheduled_for=2090-01-01T00:00:00Z";

test.each(CASES)("%s: %s at %s", async (role, right, path) => {
  const ask = askAs[role]!;
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

test.each(CASES.filter(([, , path]) => path.endsWith("/plain")))(
  "%s: %s, to create beside %s",
  async (role, right, path) => {
    const place = path.replace(/\/plain$/, "");
    const writes = right === "w" || right === "m";
    for (const [name, kind] of Object.entries(KINDS)) {
      const status = right === "x" ? 401 : writes ? (kind.created ?? 201) : 403;
      const made = `${place}/by_${role.replace(" ", "_")}_${name}`;
      expect([made, (await kind.create(askAs[role]!, made)).status]).toEqual([made, status]);
    }
    // A draft can be saved where one may deploy.
    const draft = { path: `${place}/draft`, typ: "flow", value: {} };
    const kept = await askAs[role]!("POST", "/w/acme/drafts/create", draft);
    expect(kept.status).toBe(right === "x" ? 401 : writes ? 201 : 403);
  },
);

test.each(CASES)("%s: %s, to change rights to %s", async (role, right, path) => {
  const reads = right !== "x" && right !== "-";
  const refused = OPERATORS.includes(role) || reads ? 403 : 404;
  const writes = right === "w" || right === "m";
  for (const kind of Object.keys(KINDS)) {
    const acls = (verb: string) => `/w/acme/acls/${verb}/${kind}/${path}`;
    const get = await askAs[role]!("GET", acls("get"));
    expect(get.status).toBe(right === "x" ? 401 : reads ? 200 : 404);
    if (reads) expect(get.json()).toEqual(path.endsWith("/shared") ? SHARED : {});
    const add = await askAs[role]!("POST", acls("add"), { owner: "u/admin", write: true });
    expect(add.status).toBe(right === "x" ? 401 : writes ? 200 : refused);
    const remove = await askAs[role]!("POST", acls("remove"), { owner: "u/admin" });
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
