/** Callers without rights on an item. Each is created anew if a call has removed its account or token. */
import { eq } from "drizzle-orm";
import { tokens } from "../../../../src/features/tenancy/tokens/tables.ts";
import { sha256 } from "../../../../src/lib/text/ids.ts";
import { expectOk, type TestServer } from "../../../support/harness.ts";
import { WORKSPACE, type World } from "./world.ts";

export const OUTSIDERS = [
  "nobody",
  "outsider",
  "admin of another workspace",
  "removed",
  "disabled",
  "bound elsewhere",
  "expired",
  "revoked",
  "ended job",
] as const;
export const RESTRICTED = ["scoped", "webhook token"] as const;
export const MEMBERS = ["operator", "member"] as const;
export type Caller = (typeof OUTSIDERS)[number] | (typeof RESTRICTED)[number] | (typeof MEMBERS)[number];

let made = 0;

/** @returns the caller's token; undefined for anonymous callers */
export async function tokenOf(caller: Caller, server: TestServer, world: World): Promise<string | undefined> {
  const { admin, token, endedJobToken } = world;
  const name = `guest${++made}`;
  const own = async (body: object) => (await expectOk(admin("POST", "/users/tokens/create", body))).text;
  const { app } = server.server;
  switch (caller) {
    case "nobody":
      return undefined;
    case "outsider":
      return (await server.user(name)).token;
    case "admin of another workspace":
      return (await server.workspace(`other-${name}`)).token;
    case "operator":
      return (await server.member("acme", name, "operator")).token;
    case "member":
      return (await server.member("acme", name)).token;
    case "removed": {
      const member = await server.member("acme", name);
      await expectOk(member.ask("GET", `${WORKSPACE}/users/whoami`));
      await expectOk(admin("DELETE", `${WORKSPACE}/users/delete/${name}`));
      return member.token;
    }
    case "disabled": {
      const member = await server.member("acme", name, "admin");
      await expectOk(admin("POST", `${WORKSPACE}/users/update/${name}`, { disabled: true }));
      return member.token;
    }
    case "bound elsewhere": {
      const id = "elsewhere";
      await server.operator("POST", "/workspaces/create", { id, name: id, owner: "admin_acme@example.org" });
      return own({ workspace_id: id });
    }
    case "expired": {
      const value = await own({ label: name, expiration: new Date(Date.now() + 86_400_000) });
      const past = new Date(Date.now() - 86_400_000);
      await app.db.write((tx) =>
        tx
          .update(tokens)
          .set({ expiration: past })
          .where(eq(tokens.hash, sha256(value))),
      );
      return value;
    }
    case "revoked": {
      const value = await own({ label: name });
      await expectOk(server.as(value)("GET", "/users/whoami"));
      await expectOk(admin("DELETE", `/users/tokens/delete/${value.slice(0, 10)}`));
      return value;
    }
    case "ended job":
      return endedJobToken;
    case "scoped":
      return own({ label: name, scopes: ["variables:read:u/admin/other", "jobs:run:flows:u/admin/other"] });
    case "webhook token": {
      const scopes = ["jobs:run:scripts:u/admin/hook"];
      return own({ label: `webhook-${name}`, scopes, workspace_id: "acme" });
    }
    default:
      return token;
  }
}
