/**
 * References that somebody gives whose rights are not those the job runs with. Followed as all others are, they would
 * read with the job's rights whatever the caller names. So they are settled when the job is submitted, before it has
 * any rights: a member's are followed with the member's own, and what somebody outside has sent is text.
 */

import { parseJson } from "../../../lib/json/json.ts";
import { LONG, replaceInLong } from "../../../lib/json/long.ts";
import type { App, Identity, WorkspaceContext } from "../../../platform/app/context.ts";
import { withFreshToken } from "../../assets/connections/refresh.ts";
import {
  interpolateArguments,
  isReference,
  mayBeginReference,
  type References,
  replaceReferences,
} from "../../assets/interpolate.ts";
import { getResource } from "../../assets/resources/service.ts";
import { getVariable } from "../../assets/variables/service.ts";
import { openValue } from "../../assets/variables/value.ts";
import { recordAudit } from "../../signals/audit/service.ts";
import { checkScopes } from "../../tenancy/tokens/scopes.ts";
import { SECRET_READ } from "../../tenancy/workspaces/secrets.ts";
import { openSealed, type Runner, sealValue } from "./password-arguments.ts";
import { mayRefer } from "./references.ts";

/** What a job itself is told of: texts such as `$AAPL` mean nothing, and stay. */
const CONTEXTUAL = /^\$(WM_\w+|BASE_INTERNAL_URL|BASE_URL)$/;
const NAME = /^\$\w+$/;

/**
 * Arguments that somebody outside has sent: what looks like a reference in them is sealed, so that the job finds the text.
 * @param args JSON text
 */
export async function asSent(app: App, runner: Runner, args: string): Promise<string> {
  return rewritten(args, async (text) =>
    NAME.test(text) && !CONTEXTUAL.test(text) ? text : sealValue(app, runner, text),
  );
}

/**
 * Arguments of a member whose token is restricted, or who runs what runs as somebody else: references are followed here,
 * with the rights of the member and of the token, and what they lead to is sealed for the job.
 * @param runner whom the job runs as
 * @param args JSON text of an object
 * @throws Forbidden for what the token does not cover; BadRequest, which names the argument, for a reference that leads
 * nowhere the caller may read
 */
export async function asCallerReads(ctx: WorkspaceContext, runner: Runner, args: string): Promise<string> {
  const reading = beginReading(ctx);
  const settled = await rewritten(args, async (text, at) => {
    if (text === "$WM_TOKEN") return sealValue(ctx.app, runner, text);
    if (NAME.test(text)) return text;
    const argument: Record<string, unknown> = { [at]: text };
    await interpolateArguments(argument, reading.references);
    return sealValue(ctx.app, runner, argument[at]);
  });
  await reading.end();
  return settled;
}

/**
 * What a preprocessor is handed, as it was sent. It makes arguments of it, which may refer: where the job has other rights
 * than the caller, what came from the caller is text to it, as `asSent` has it.
 */
export async function inputAsSent(
  ctx: WorkspaceContext,
  runs_as: { email: string } | undefined,
  input: string,
): Promise<string> {
  const runner = runnerOf(ctx, runs_as);
  return hasOtherRights(ctx.caller.identity, runner) ? asSent(ctx.app, runner, input) : input;
}

/** Whether the job has other rights than the caller's token gives. */
export function hasOtherRights({ email, token }: Identity, runner: Pick<Runner, "email">): boolean {
  return runner.email !== email || Boolean(token?.scopes?.length);
}

/** Whom a job runs as that is submitted in this context. */
export function runnerOf(
  { caller: { identity, member } }: WorkspaceContext,
  runs_as: { email: string } | undefined,
): Runner {
  return { workspace_id: member.workspace_id, email: runs_as?.email ?? identity.email };
}

async function rewritten(json: string, by: (text: string, at: string) => Promise<unknown>): Promise<string> {
  if (!mayRefer(json)) return json;
  if (json.length > LONG) {
    return replaceInLong(json, mayBeginReference, async (text) =>
      JSON.stringify(isReference(text) ? await by(text, "value") : text),
    );
  }
  const whole = { "": parseJson(json) as unknown };
  const changed = await replaceReferences(whole, (text, at) => by(text, at.replace(/^\./, "") || "value"));
  return changed ? JSON.stringify(whole[""]) : json;
}

/** A restricted token opens nothing that was sealed: whoever holds the token need not be whom it was sealed for. */
function beginReading(ctx: WorkspaceContext): { references: References; end(): Promise<void> } {
  const { app, caller } = ctx;
  const { identity, member } = caller;
  const secrets = new Set<string>();
  const resource = async (path: string) => {
    checkScopes(identity, { domain: "resources", action: "read" }, path);
    return (await getResource(ctx, path)).value;
  };
  const variable = async (path: string) => {
    checkScopes(identity, { domain: "variables", action: "read" }, path);
    const row = await getVariable(ctx, path);
    const plain = await openValue(app, await withFreshToken(app, row));
    if (row.is_secret) secrets.add(path);
    return plain;
  };
  const own = { workspace_id: member.workspace_id, email: identity.email };
  const sealed = (text: string) => openSealed(app, own, text);
  return {
    references: {
      resource,
      variable,
      contextual: () => undefined,
      ...(identity.token?.scopes?.length ? {} : { sealed }),
    },
    end: () => recordReads(ctx, [...secrets]),
  };
}

/** The rows that reading these secrets one by one would leave. */
async function recordReads(ctx: WorkspaceContext, paths: string[]): Promise<void> {
  if (paths.length === 0) return;
  const { app, caller, username } = ctx;
  const { workspace_id, email } = caller.member;
  const common = { timestamp: app.clock(), workspace_id, username, email, parameters: undefined };
  await app.db.write(async (tx) => {
    for (const resource of paths) await recordAudit(tx, { ...common, audit: SECRET_READ, resource });
  });
}
