/**
 * Values inside arguments that must not be stored in plain: in their place stands `$encrypted:` and what the workspace's
 * key sealed. What the server seals is bound to whom the job runs as, so that somebody else who may see a job's arguments
 * cannot have a job of their own open them.
 */

import { BadRequest } from "../../../lib/errors.ts";
import { isContainer, parseJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { isReference } from "../../assets/interpolate.ts";
import { argumentOf, decryptSecret, encryptSecret } from "../../tenancy/workspaces/secrets.ts";

export const MARK = "$encrypted:";

/** Whom a sealed value is for. */
export interface Runner {
  workspace_id: string;
  email: string;
}

/** What the server's own seals are bound to. */
const purposeOf = ({ email }: Pick<Runner, "email">) => argumentOf(email);

/** The reference to a value that only jobs of this runner open. */
export async function sealValue(app: App, runner: Runner, value: unknown): Promise<string> {
  const { workspace_id } = runner;
  const text = JSON.stringify(value);
  return MARK + (await encryptSecret(app, app.db.read, workspace_id, text, purposeOf(runner)));
}

/**
 * What was sealed, here or by `variables/encrypt`: JSON, or text that is none.
 * @param sealed without the mark
 * @throws BadRequest when it was sealed for somebody else, in another workspace, or not at all
 */
export async function openSealed(app: App, runner: Runner, sealed: string): Promise<unknown> {
  const open = (purpose?: string) =>
    decryptSecret(app, app.db.read, runner.workspace_id, sealed, purpose).catch((cause) => {
      if (cause instanceof BadRequest) return undefined;
      throw cause;
    });
  const text = (await open(purposeOf(runner))) ?? (await open());
  if (text === undefined) {
    throw new BadRequest(
      `it was encrypted for somebody else than ${runner.email} of workspace ${runner.workspace_id}, or not by this service`,
    );
  }
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/**
 * Arguments as they may be stored: those of these names are sealed, unless they refer to something.
 * @param args JSON text of an object
 */
export async function sealArguments(
  app: App,
  runner: Runner,
  args: string,
  names: readonly string[],
): Promise<string> {
  const value = parseJson(args) as Record<string, unknown>;
  for (const name of names) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given === undefined || given === null || given === "" || isReference(given)) continue;
    value[name] = await sealValue(app, runner, given);
  }
  return JSON.stringify(value);
}

/** Every text in the value that holds one of the secrets is sealed. The value itself is left as it is. */
export async function sealSecrets(
  app: App,
  runner: Runner,
  value: unknown,
  secrets: ReadonlySet<string>,
): Promise<unknown> {
  if (typeof value === "string") {
    const holds = [...secrets].some((secret) => secret !== "" && value.includes(secret));
    return holds ? sealValue(app, runner, value) : value;
  }
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) {
    return Promise.all(value.map((inner) => sealSecrets(app, runner, inner, secrets)));
  }
  const entries = Object.entries(value).map(
    async ([name, inner]) => [name, await sealSecrets(app, runner, inner, secrets)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}
