/**
 * References in a job's arguments. They are resolved just before the run with the job's rights; the stored arguments
 * keep their text.
 *
 * `worker/run-job.ts` calls this file, which decides whose rights apply and which secrets are masked;
 * assets/interpolate.ts follows the references, and engines/runner/job-run.ts masks the secrets in the output. Stored
 * secrets are decrypted only by assets/variables/value.ts. If a job has other rights than its caller,
 * `caller-references.ts` resolves or escapes references when the job is submitted.
 */

import type { ParameterBinding } from "../../../engines/languages/types.ts";
import type { ResolvedArguments } from "../../../engines/runner/types.ts";
import { MAX_WRAPPED_JSON_DEPTH, requireJsonDepth } from "../../../lib/json/depth.ts";
import {
  isContainer,
  isExactNumber,
  mergeMembers,
  parseJson,
  toPlainNumber,
} from "../../../lib/json/json.ts";
import { LONG_JSON_CHARACTERS } from "../../../lib/json/long-json.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { ensureFreshToken } from "../../assets/connections/refresh-token.ts";
import {
  interpolateArguments,
  interpolateLargeJson,
  type ReferenceResolver,
} from "../../assets/interpolate.ts";
import { getResource } from "../../assets/resources/service.ts";
import { getVariable } from "../../assets/variables/service.ts";
import { decryptValue } from "../../assets/variables/value.ts";
import { recordAudit } from "../../signals/audit/service.ts";
import { SECRET_READ_AUDIT } from "../../tenancy/workspaces/secrets.ts";
import type { FlowPlace } from "../job/environment.ts";
import { createJobEnvironment } from "../job/environment.ts";
import { createJobContext } from "../job/job-context.ts";
import { decryptArgument } from "./password-arguments.ts";

/**
 * Returns whether the arguments may contain a reference. False positives cost a parse; there are no false negatives.
 */
export function mayContainReferences(args: string): boolean {
  return args.includes('"$') || args.includes("\\u0024");
}

/** Overrides the arguments that the script's code has pinned. */
export function applyPinnedArguments(args: string, parameters: ParameterBinding[]): string {
  if (!parameters.some(({ kind }) => kind === "pinned")) return args;
  const pinned = parameters.filter(({ kind }) => kind === "pinned");
  const settled = Object.fromEntries(pinned.map(({ name, default: value }) => [name, value]));
  return mergeMembers(args, settled);
}

/**
 * Resolves all references in a job's arguments.
 * @param args JSON text of an object
 * @throws BadRequest naming the argument, if a reference is missing, circular or not readable by the job
 */
export async function resolveReferences(
  app: App,
  job: Job,
  args: string,
  place: FlowPlace | undefined,
): Promise<ResolvedArguments> {
  const token = `token-${Bun.randomUUIDv7()}`;
  const reading = await createReferenceReader(app, job, {
    ...createJobEnvironment(app, job, place),
    WM_TOKEN: token,
  });
  const text = await resolveInText(args, reading.references);
  if (text === args) return { args, secrets: [], token_placeholder: undefined };
  const secrets = await reading.recordReads();
  requireJsonDepth(text, "what the arguments refer to", MAX_WRAPPED_JSON_DEPTH);
  return { args: text, secrets, token_placeholder: text.includes(token) ? token : undefined };
}

/** Resolves the references in the JSON text of arguments. @returns the same text if it contains no reference */
async function resolveInText(args: string, references: ReferenceResolver): Promise<string> {
  if (args.length > LONG_JSON_CHARACTERS) return interpolateLargeJson(args, references);
  const value = parseJson(args) as Record<string, unknown>;
  return (await interpolateArguments(value, references)) ? JSON.stringify(value) : args;
}

/** Reads references on behalf of one job and collects the secrets among them. */
export interface ReferenceReader {
  references: ReferenceResolver;
  /** Records an audit row for each secret that was read. @returns their values */
  recordReads(): Promise<string[]>;
}

/** Creates a reader with the job's rights. @param environment contextual variables for `$NAME` */
export async function createReferenceReader(
  app: App,
  job: Job,
  environment: Record<string, string> = {},
): Promise<ReferenceReader> {
  const ctx = await createJobContext(app, job);
  const variables = new Map<string, string>();
  const sealed: string[] = [];
  return {
    references: {
      resource: async (path) => (await getResource(ctx, path)).value,
      variable: async (path) => {
        const row = await getVariable(ctx, path);
        const plain = await decryptValue(app, await ensureFreshToken(app, row));
        if (row.is_secret) variables.set(path, plain);
        return plain;
      },
      encrypted: async (text) => {
        const opened = await decryptArgument(app, job, text);
        sealed.push(...listSecretTexts(opened));
        return opened;
      },
      contextual: (name) => (Object.hasOwn(environment, name) ? environment[name] : undefined),
    },
    async recordReads() {
      if (variables.size > 0) await recordSecretReads(app, job, ctx.username, [...variables.keys()]);
      return [...variables.values(), ...sealed];
    },
  };
}

/** Records the same audit rows as reading these secrets one by one. */
function recordSecretReads(app: App, job: Job, username: string, paths: string[]): Promise<void> {
  const common = { timestamp: app.clock(), workspace_id: job.workspace_id, username, email: job.email };
  return app.db.write(async (tx) => {
    for (const resource of paths) {
      await recordAudit(tx, {
        ...common,
        audit: SECRET_READ_AUDIT,
        resource,
        parameters: { job_id: job.id },
      });
    }
  });
}

/**
 * Lists what to mask of an encrypted value: every text in it; a number, such as a PIN, if it is the value, with its
 * digits and as JavaScript rounds it.
 */
function listSecretTexts(value: unknown): string[] {
  const isNumber = typeof value === "number" || isExactNumber(value);
  return isNumber ? [JSON.stringify(value), String(toPlainNumber(value))] : listTexts(value);
}

/** Lists every text in a value; none for other types. */
function listTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (!isContainer(value)) return [];
  return Object.values(value).flatMap(listTexts);
}
