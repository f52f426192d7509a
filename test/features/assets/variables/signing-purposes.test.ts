/** A signature made for one purpose is invalid for any other. */
import { expect, test } from "bun:test";
import {
  type SigningPurpose,
  signForWorkspace,
} from "../../../../src/features/tenancy/workspaces/signing.ts";
import { expectOk, startTestServer } from "../../../support/harness.ts";

test("each purpose and workspace has its own key, derived from the workspace's key", async () => {
  await using test = await startTestServer();
  const { ask } = await test.workspace();
  await test.workspace("other");
  const purposes: SigningPurpose[] = ["approval", "stored file", "public app"];
  const made = async (workspace: string) =>
    Promise.all(
      purposes.map(async (purpose) =>
        (await signForWorkspace(test.server.app, workspace, purpose, ["x"])).toString("hex"),
      ),
    );
  const all = [...(await made("acme")), ...(await made("other"))];
  const again = await made("acme");
  expect(again).toEqual(all.slice(0, 3));
  await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", { new_key: "k".repeat(64) }));
  expect(new Set([...all, ...(await made("acme"))]).size).toBe(9);
});
