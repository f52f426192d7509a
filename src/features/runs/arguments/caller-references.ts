/**
 * References in arguments from callers whose rights differ from the job's. If they were resolved when the job runs,
 * the job's rights would apply. So they are processed at submission: references of members are resolved with the
 * member's rights, those of anonymous callers are escaped to text.
 */

import { parseJson } from "../../../lib/json/json.ts";
import { LONG_JSON_CHARACTERS, replaceInLongJson } from "../../../lib/json/long-json.ts";
import type { App, Identity, WorkspaceContext } from "../../../platform/app/context.ts";
import { ensureFreshToken } from "../../assets/connections/refresh-token.ts";
import {
  interpolateArguments,
  isReference,
  mayBeginReference,
  type ReferenceResolver,
  replaceReferences,
} from "../../assets/interpolate.ts";
import { getResource } from "../../assets/resources/service.ts";
import { getVariable } from "../../assets/variables/service.ts";
import { decryptValue } from "../../assets/variables/value.ts";
import { recordAudit } from "../../signals/audit/service.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { SECRET_READ_AUDIT } from "../../tenancy/workspaces/secrets.ts";
import { decryptArgument, encryptArgument, type RunAs } from "./password-arguments.ts";
import { mayContainReferences } from "./references.ts";

/** References to contextual variables. Other texts of this form, such as `$AAPL`, are not references and stay. */
const CONTEXTUAL_NAME = /^\$(WM_\w+|BASE_INTERNAL_URL|BASE_URL)$/;
const NAME_REFERENCE = /^\$\w+$/;

/** Whether a text has the form of a contextual variable, but is none, such as `$AAPL`. */
export function isPlainName(text: string): boolean {
  return NAME_REFERENCE.test(text) && !CONTEXTUAL_NAME.test(text);
}

/**
 * Escapes `$var:`, `$res:` and `$encrypted:` in untrusted arguments by encrypting them as literals, so that the job
 * receives the text instead of resolving it with its own rights.
 * @param args JSON text
 */
export async function escapeReferences(app: App, runner: RunAs, args: string): Promise<string> {
  return rewriteReferences(args, async (text) =>
    isPlainName(text) ? text : encryptArgument(app, runner, text),
  );
}

/**
 * Resolves references at submission, for a restricted token or a job that runs as somebody else. They are read with the
 * rights of the caller and the token; the values are encrypted for the job.
 * @param runner the user the job runs as
 * @param args JSON text of an object
 * @throws Forbidden if the token does not cover a reference; BadRequest, naming the argument, if the caller may not
 * read it
 */
export async function resolveAsCaller(ctx: WorkspaceContext, runner: RunAs, args: string): Promise<string> {
  const reading = createCallerReader(ctx);
  const settled = await rewriteReferences(args, async (text, at) => {
    if (text === "$WM_TOKEN") return encryptArgument(ctx.app, runner, text);
    if (NAME_REFERENCE.test(text)) return text;
    const argument: Record<string, unknown> = { [at]: text };
    await interpolateArguments(argument, reading.references);
    return encryptArgument(ctx.app, runner, argument[at]);
  });
  await reading.end();
  return settled;
}

/**
 * Escapes references in a preprocessor's input if the job has other rights than the caller, because the preprocessor's
 * result may contain references.
 */
export async function escapePreprocessorInput(
  ctx: WorkspaceContext,
  runs_as: { email: string } | undefined,
  input: string,
): Promise<string> {
  const runner = determineRunAs(ctx, runs_as);
  return runsWithOtherRights(ctx.caller.identity, runner) ? escapeReferences(ctx.app, runner, input) : input;
}

/** Whether the job's rights differ from those of the caller's token. */
export function runsWithOtherRights({ email, token }: Identity, runner: Pick<RunAs, "email">): boolean {
  return runner.email !== email || Boolean(token?.scopes?.length);
}

/** Returns the user that a job submitted in this context runs as. */
export function determineRunAs(
  { caller: { identity, member } }: WorkspaceContext,
  runs_as: { email: string } | undefined,
): RunAs {
  return { workspace_id: member.workspace_id, email: runs_as?.email ?? identity.email };
}

async function rewriteReferences(
  json: string,
  by: (text: string, at: string) => Promise<unknown>,
): Promise<string> {
  if (!mayContainReferences(json)) return json;
  if (json.length > LONG_JSON_CHARACTERS) {
    return replaceInLongJson(json, mayBeginReference, async (text) =>
      JSON.stringify(isReference(text) ? await by(text, "value") : text),
    );
  }
  const whole = { "": parseJson(json) as unknown };
  const changed = await replaceReferences(whole, (text, at) => by(text, at.replace(/^\./, "") || "value"));
  return changed ? JSON.stringify(whole[""]) : json;
}

/**
 * Creates a reader with the caller's rights. A restricted token decrypts nothing: its holder need not be the user for
 * whom a value was encrypted.
 */
function createCallerReader(ctx: WorkspaceContext): { references: ReferenceResolver; end(): Promise<void> } {
  const { app, caller } = ctx;
  const { identity, member } = caller;
  const secrets = new Set<string>();
  const resource = async (path: string) => {
    requireScope(identity, { domain: "resources", action: "read" }, path);
    return (await getResource(ctx, path)).value;
  };
  const variable = async (path: string) => {
    requireScope(identity, { domain: "variables", action: "read" }, path);
    const row = await getVariable(ctx, path);
    const plain = await decryptValue(app, await ensureFreshToken(app, row));
    if (row.is_secret) secrets.add(path);
    return plain;
  };
  const own = { workspace_id: member.workspace_id, email: identity.email };
  const sealed = (text: string) => decryptArgument(app, own, text);
  return {
    references: {
      resource,
      variable,
      contextual: () => undefined,
      ...(identity.token?.scopes?.length ? {} : { encrypted: sealed }),
    },
    end: () => recordSecretReads(ctx, [...secrets]),
  };
}

/** Records the same audit rows as reading these secrets one by one. */
async function recordSecretReads(ctx: WorkspaceContext, paths: string[]): Promise<void> {
  if (paths.length === 0) return;
  const { app, caller, username } = ctx;
  const { workspace_id, email } = caller.member;
  const common = { timestamp: app.clock(), workspace_id, username, email, parameters: undefined };
  await app.db.write(async (tx) => {
    for (const resource of paths) await recordAudit(tx, { ...common, audit: SECRET_READ_AUDIT, resource });
  });
}
