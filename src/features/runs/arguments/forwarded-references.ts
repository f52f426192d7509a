/**
 * References that a job passes on. A job receives a text that looks like a reference only if it is data: references of
 * its caller are resolved before it starts. If the job starts another one with that text, it is data there, too, and
 * must not be resolved with the job's rights.
 */
import { and, eq } from "drizzle-orm";
import { isContainer, parseJson } from "../../../lib/json/json.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { ENCRYPTED_PREFIX, isReference, replaceReferences } from "../../assets/interpolate.ts";
import { isPlainName } from "./caller-references.ts";
import { createDataSearch } from "./data-search.ts";
import { decryptArgument, encryptArgument } from "./password-arguments.ts";
import { mayContainReferences } from "./references.ts";

/**
 * Encrypts as literals, in arguments that a job gives to another one, the references that the job was given as texts or
 * inside of them. Arguments of other callers are returned unchanged.
 * @param args JSON text
 */
export async function escapeForwardedReferences(ctx: WorkspaceContext, args: string): Promise<string> {
  const { app, caller } = ctx;
  const id = caller.identity.token?.job?.id;
  if (id === undefined || !mayContainReferences(args)) return args;
  const runner = { workspace_id: caller.member.workspace_id, email: caller.identity.email };
  const [job] = await app.db.read
    .select()
    .from(jobs)
    .where(and(eq(jobs.id, id), eq(jobs.workspace_id, runner.workspace_id)));
  if (!job) return args;
  const isReceived = createDataSearch(await listReceivedTexts(ctx, job));
  const whole = { "": parseJson(args) as unknown };
  const changed = await replaceReferences(whole, async (text) => {
    return !isPlainName(text) && isReceived(text) ? encryptArgument(app, runner, text) : text;
  });
  return changed ? JSON.stringify(whole[""]) : args;
}

/** Lists the texts with a dollar sign that a job received: not the references, which were resolved. */
async function listReceivedTexts({ app }: WorkspaceContext, job: Job): Promise<string[]> {
  const texts: string[] = [];
  const ahead: unknown[] = [parseJson(job.args), parseJson(job.preprocessor_input ?? "null")];
  while (ahead.length > 0) {
    const at = ahead.pop();
    if (isContainer(at)) ahead.push(...Object.values(at));
    if (typeof at !== "string" || !at.includes("$")) continue;
    if (at.startsWith(ENCRYPTED_PREFIX)) {
      const sealed = at.slice(ENCRYPTED_PREFIX.length);
      texts.push(...listLiterals(await decryptArgument(app, job, sealed).catch(() => undefined)));
    } else if (!isReference(at) || job.preprocessor_input !== null) texts.push(at);
  }
  return texts;
}

function listLiterals(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return isContainer(value) ? Object.values(value).flatMap(listLiterals) : [];
}
