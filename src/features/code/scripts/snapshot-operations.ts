/** Deploys scripts that a client has bundled. The bundle runs; the script's source is displayed. */
import { BadRequest } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import { parseJsonField, readForm } from "../../../platform/http/multipart-form.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { createScript } from "./deploy.ts";
import { NewScript } from "./records.ts";

export const createScriptSnapshot = operation({
  name: "createScriptSnapshot",
  method: "POST",
  path: "/w/{workspace}/scripts/create_snapshot",
  access: "author",
  summary: "Deploy a new version of a script with a JavaScript bundle that runs in its place",
  reads: { "multipart/form-data": z.object({ script: NewScript, file: z.file() }) },
  responds: responds.created("hash of the new version"),
  audit: { operation: "scripts.create", action_kind: "Create" },
  run: async (ctx) => {
    const form = await readForm(ctx.request, ctx.app.settings.get("request_size_limit_mb") * 1_000_000);
    const script = await parseJsonField(form, "script", NewScript);
    const file = form.get("file");
    if (file === null) throw new BadRequest("the form needs the file `file`, with the bundle");
    const bytes =
      typeof file === "string" ? Buffer.from(file) : Buffer.from(await (file as Blob).arrayBuffer());
    return createScript(ctx, { ...script, bundle: decodeText(bytes) });
  },
});

/** Decodes a bundle as UTF-8 text. @throws BadRequest for an archive, or other data that is not text */
function decodeText(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // The error is thrown below.
  }
  throw new BadRequest("the bundle must be one file of JavaScript: archives with assets are not supported");
}

export const snapshotOperations: Operation[] = [createScriptSnapshot];
