/** Scripts that a client has bundled with the code around them: what runs is the bundle, what is shown the script. */
import { z } from "zod";
import { BadRequest } from "../../../lib/errors.ts";
import { jsonField, readForm } from "../../../platform/http/form.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { createScript } from "./deploy.ts";
import { NewScript } from "./records.ts";

const createScriptSnapshot = operation({
  name: "createScriptSnapshot",
  method: "POST",
  path: "/w/{workspace}/scripts/create_snapshot",
  access: "author",
  summary: "Deploy a new version of a script with a bundle of JavaScript that runs in its place",
  reads: { "multipart/form-data": z.object({ script: NewScript, file: z.file() }) },
  responds: responds.created("hash of the new version"),
  audit: { operation: "scripts.create", action_kind: "Create" },
  run: async (ctx) => {
    const form = await readForm(ctx.request, ctx.app.settings.get("request_size_limit_mb") * 1_000_000);
    const script = await jsonField(form, "script", NewScript);
    const file = form.get("file");
    if (file === null) throw new BadRequest("the form needs the file `file`, which is the bundle");
    const bytes =
      typeof file === "string" ? Buffer.from(file) : Buffer.from(await (file as Blob).arrayBuffer());
    return createScript(ctx, { ...script, bundle: textOf(bytes) });
  },
});

/** @throws BadRequest for an archive, or whatever else is no text */
function textOf(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Said below.
  }
  throw new BadRequest("the bundle must be one file of JavaScript: archives with assets cannot be run here");
}

export const snapshotOperations: Operation[] = [createScriptSnapshot];
