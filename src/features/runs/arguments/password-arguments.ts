/**
 * Encrypted values in arguments: `$encrypted:` and a ciphertext under the workspace's key. The ciphertext is bound to
 * the user the job runs as, so that others who see the arguments cannot decrypt them in jobs of their own.
 */

import { BadRequest } from "../../../lib/errors.ts";
import { isContainer, parseJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { isReference } from "../../assets/interpolate.ts";
import { createArgumentPurpose, decryptSecret, encryptSecret } from "../../tenancy/workspaces/secrets.ts";

export const ENCRYPTED_PREFIX = "$encrypted:";

/** The user for whom a value is encrypted. */
export interface RunAs {
  workspace_id: string;
  email: string;
}

/** Returns the purpose (associated data) of ciphertexts made by the server. */
const createPurpose = ({ email }: Pick<RunAs, "email">) => createArgumentPurpose(email);

/** Encrypts a value and returns the reference to it. Only jobs that run as `runner` can decrypt it. */
export async function encryptArgument(app: App, runner: RunAs, value: unknown): Promise<string> {
  const { workspace_id } = runner;
  const text = JSON.stringify(value);
  return (
    ENCRYPTED_PREFIX + (await encryptSecret(app, app.db.read, workspace_id, text, createPurpose(runner)))
  );
}

/**
 * Decrypts a value encrypted here or by `variables/encrypt`, and parses it if it is JSON.
 * @param sealed ciphertext without the prefix
 * @throws BadRequest if it was encrypted for another user or workspace, or not by this service
 */
export async function decryptArgument(app: App, runner: RunAs, sealed: string): Promise<unknown> {
  const open = (purpose?: string) =>
    decryptSecret(app, app.db.read, runner.workspace_id, sealed, purpose).catch((cause) => {
      if (cause instanceof BadRequest) return undefined;
      throw cause;
    });
  const text = (await open(createPurpose(runner))) ?? (await open());
  if (text === undefined) {
    throw new BadRequest(
      `it was not encrypted by this service for ${runner.email} of workspace ${runner.workspace_id}`,
    );
  }
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/**
 * Encrypts the arguments with these names, unless they are references.
 * @param args JSON text of an object
 */
export async function encryptArguments(
  app: App,
  runner: RunAs,
  args: string,
  names: readonly string[],
): Promise<string> {
  const value = parseJson(args) as Record<string, unknown>;
  for (const name of names) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given === undefined || given === null || given === "" || isReference(given)) continue;
    value[name] = await encryptArgument(app, runner, given);
  }
  return JSON.stringify(value);
}

/** Returns a copy of the value in which every text that contains one of the secrets is encrypted. */
export async function encryptTextsWithSecrets(
  app: App,
  runner: RunAs,
  value: unknown,
  secrets: ReadonlySet<string>,
): Promise<unknown> {
  if (typeof value === "string") {
    const holds = [...secrets].some((secret) => secret !== "" && value.includes(secret));
    return holds ? encryptArgument(app, runner, value) : value;
  }
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) {
    return Promise.all(value.map((inner) => encryptTextsWithSecrets(app, runner, inner, secrets)));
  }
  const entries = Object.entries(value).map(
    async ([name, inner]) => [name, await encryptTextsWithSecrets(app, runner, inner, secrets)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}
