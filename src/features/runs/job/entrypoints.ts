/** Jobs that run another function of a script than main: those that a running job makes of its own code, and choices. */

import { analyseScript } from "../../../engines/languages/reading/analyse.ts";
import type { Language, Signature } from "../../../engines/languages/types.ts";
import type { RunnableVersion } from "../../../engines/runner/types.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { Job } from "../../../platform/queue/tables.ts";

/** Shown among the arguments; it is what is stored with the job that counts, which no caller can set. */
const OVERRIDE = "_ENTRYPOINT_OVERRIDE";

/** What is stored with a job that runs this function. */
export function storedEntrypoint(entrypoint: string): string {
  return JSON.stringify({ entrypoint });
}

/** The arguments as the job shows them. @returns JSON text */
export function withOverride(args: Record<string, unknown>, entrypoint: string): string {
  return JSON.stringify({ ...args, [OVERRIDE]: entrypoint });
}

/** The function a job runs when it is not main; undefined for all others. */
export function entrypointOf({ kind, flow_body }: Pick<Job, "kind" | "flow_body">): string | undefined {
  if (flow_body === null || (kind !== "script" && kind !== "preview")) return undefined;
  return (parseJson(flow_body) as { entrypoint?: string }).entrypoint;
}

/** The function's own arguments. @returns JSON text */
export function withoutOverride(args: string): string {
  const { [OVERRIDE]: _, ...own } = parseJson(args) as Record<string, unknown>;
  return JSON.stringify(own);
}

/**
 * The signature of an exported function.
 * @param what the code is called when it has no such function
 * @throws BadRequest
 */
export async function signatureOf(
  { language, content }: { language: Language; content: string },
  entrypoint: string,
  what: string,
): Promise<Signature> {
  const { signature } = await analyseScript(language, content, entrypoint);
  if (!signature.has_main) throw new BadRequest(`${what} exports no function \`${entrypoint}\``);
  return signature;
}

/**
 * A version with another function in the place of main.
 * @throws BadRequest when the script exports no such function
 */
export async function versionWith(version: RunnableVersion, entrypoint: string): Promise<RunnableVersion> {
  const signature = await signatureOf(version, entrypoint, "the script");
  const id = sha256(`${version.id}\n${entrypoint}`).slice(0, 32);
  return { ...version, id, parameters: signature.parameters, preprocessor_parameters: undefined };
}
