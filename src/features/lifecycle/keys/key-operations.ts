/** Operations that read and rotate a workspace's encryption key. */
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { parseKeyText } from "../../tenancy/workspaces/key-text.ts";
import { readCurrentKey } from "../../tenancy/workspaces/secrets.ts";
import { replaceKey, rotateKey } from "./key-rotation.ts";

const path = "/w/{workspace}/workspaces/encryption_key" as const;

export const getEncryptionKey = operation({
  name: "getWorkspaceEncryptionKey",
  method: "GET",
  path,
  access: "admin",
  summary: "Read the key that encrypts the workspace's secrets",
  scope: { domain: "workspaces", action: "write" },
  responds: responds.json(z.object({ key: z.string() })),
  audit: { operation: "workspaces.get_encryption_key", action_kind: "Execute" },
  run: (ctx, { workspace }) =>
    ctx.write({ resource: workspace }, async (tx) => ({
      key: (await readCurrentKey(ctx.app, tx, workspace)).text,
    })),
});

export const setEncryptionKey = operation({
  name: "setWorkspaceEncryptionKey",
  method: "POST",
  path,
  access: "admin",
  summary: "Change the key, and re-encrypt every secret with it unless `skip_reencrypt` is set",
  body: z.object({ new_key: z.string(), skip_reencrypt: z.boolean().nullish() }),
  responds: responds.text("confirmation"),
  audit: { operation: "workspaces.set_encryption_key", action_kind: "Update" },
  run: async (ctx, { workspace, body }) => {
    const text = parseKeyText(body.new_key);
    if (body.skip_reencrypt) {
      await replaceKey(ctx, text);
      return `encryption key of workspace ${workspace} changed; its secrets were left as they are`;
    }
    const count = await rotateKey(ctx, text);
    return `encryption key of workspace ${workspace} changed, and ${count} secrets re-encrypted`;
  },
});

export const encryptionKeyOperations: Operation[] = [getEncryptionKey, setEncryptionKey];
