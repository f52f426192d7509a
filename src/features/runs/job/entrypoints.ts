/** Jobs that run an exported function of a script other than main: tasks of workflows as code, and dynamic choices. */

import type { AnalysisOwner } from "../../../engines/languages/analysis-slots.ts";
import { analyseScript } from "../../../engines/languages/reading/analyse.ts";
import type { Language, Signature } from "../../../engines/languages/types.ts";
import type { RunnableVersion } from "../../../engines/runner/types.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { Job } from "../../../platform/queue/tables.ts";

/** Shown among the arguments. The function that runs is stored in `flow_body`, which callers cannot set. */
const OVERRIDE_ARGUMENT = "_ENTRYPOINT_OVERRIDE";

/** Encodes the function for the job's row. */
export function encodeEntrypoint(entrypoint: string): string {
  return JSON.stringify({ entrypoint });
}

/** Adds the function to the shown arguments. @returns JSON text */
export function addEntrypointArgument(args: Record<string, unknown>, entrypoint: string): string {
  return JSON.stringify({ ...args, [OVERRIDE_ARGUMENT]: entrypoint });
}

/** Returns the function a job runs instead of main; undefined if it runs main. */
export function decodeEntrypoint({ kind, flow_body }: Pick<Job, "kind" | "flow_body">): string | undefined {
  if (flow_body === null || (kind !== "script" && kind !== "preview")) return undefined;
  return (parseJson(flow_body) as { entrypoint?: string }).entrypoint;
}

/** Removes the function's name from the arguments. @returns JSON text */
export function removeEntrypointArgument(args: string): string {
  const { [OVERRIDE_ARGUMENT]: _, ...own } = parseJson(args) as Record<string, unknown>;
  return JSON.stringify(own);
}

/**
 * Returns the signature of an exported function.
 * @param owner for whom the code is analysed
 * @param what name of the code in the error message
 * @throws BadRequest if the function does not exist
 */
export async function getFunctionSignature(
  { language, content }: { language: Language; content: string },
  entrypoint: string,
  owner: AnalysisOwner,
  what: string,
): Promise<Signature> {
  const { signature } = await analyseScript(language, content, { entrypoint, ...owner });
  if (!signature.has_main) throw new BadRequest(`${what} exports no function \`${entrypoint}\``);
  return signature;
}

/**
 * Returns a version that runs another function instead of main, for a job.
 * @throws BadRequest if the script exports no such function
 */
export async function selectEntrypoint(
  version: RunnableVersion,
  entrypoint: string,
): Promise<RunnableVersion> {
  const signature = await getFunctionSignature(
    version,
    entrypoint,
    { owner: version.workspace_id },
    "the script",
  );
  const id = sha256(`${version.id}\n${entrypoint}`).slice(0, 32);
  return { ...version, id, parameters: signature.parameters, preprocessor_parameters: undefined };
}
