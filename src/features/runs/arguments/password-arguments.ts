/**
 * Encrypted values in arguments: `$encrypted:` and a ciphertext under the workspace's key. The ciphertext is bound to
 * the user the job runs as, so that others who see the arguments cannot decrypt them in jobs of their own.
 */

import type { Secrets } from "../../../engines/runner/output/secrets.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { isContainer, parseJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { ENCRYPTED_PREFIX, isReference } from "../../assets/interpolate.ts";
import { createArgumentPurpose, decryptSecret, encryptSecret } from "../../tenancy/workspaces/secrets.ts";

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

/**
 * Returns a copy of the value in which every text that contains one of the secrets, in any form in which it may be
 * printed, is encrypted. An object of which a name contains one is encrypted as a whole.
 */
export async function encryptTextsWithSecrets(
  app: App,
  runner: RunAs,
  value: unknown,
  secrets: Secrets,
): Promise<unknown> {
  if (typeof value === "string") {
    return secrets.find(value).length > 0 ? encryptArgument(app, runner, value) : value;
  }
  if (!isContainer(value)) return value;
  const encrypt = (inner: unknown) => encryptTextsWithSecrets(app, runner, inner, secrets);
  if (Array.isArray(value)) return Promise.all(value.map(encrypt));
  const names = Object.keys(value);
  if (names.some((name) => secrets.find(name).length > 0)) return encryptArgument(app, runner, value);
  const inner = await Promise.all(Object.values(value).map(encrypt));
  return Object.fromEntries(names.map((name, at) => [name, inner[at]]));
}
