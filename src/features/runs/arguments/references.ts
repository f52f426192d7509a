/**
 * References in a job's arguments. They are followed just before the run, with the rights the job runs with; what is
 * stored of the job keeps their text.
 */

import type { ParameterBinding } from "../../../engines/languages/types.ts";
import type { PlainArguments } from "../../../engines/runner/types.ts";
import { MAX_DEPTH_WITHIN, refuseDeep } from "../../../lib/json/depth.ts";
import { isContainer, parseJson, withMembers } from "../../../lib/json/json.ts";
import { LONG } from "../../../lib/json/long.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { withFreshToken } from "../../assets/connections/refresh.ts";
import { interpolateArguments, interpolateLong, type References } from "../../assets/interpolate.ts";
import { getResource } from "../../assets/resources/service.ts";
import { getVariable } from "../../assets/variables/service.ts";
import { openValue } from "../../assets/variables/value.ts";
import { recordAudit } from "../../signals/audit/service.ts";
import { SECRET_READ } from "../../tenancy/workspaces/secrets.ts";
import type { FlowPlace } from "../job/environment.ts";
import { jobEnvironment } from "../job/environment.ts";
import { jobContext } from "../job/job-context.ts";
import { openSealed } from "./password-arguments.ts";

/** Whether a text in these arguments may be a reference. A miss would be one, a false alarm costs a parse. */
export function mayRefer(args: string): boolean {
  return args.includes('"$') || args.includes("\\u0024");
}

/** The arguments with those that the code itself has settled, whatever the caller says of them. */
export function withPinned(args: string, parameters: ParameterBinding[]): string {
  if (!parameters.some(({ kind }) => kind === "pinned")) return args;
  const pinned = parameters.filter(({ kind }) => kind === "pinned");
  const settled = Object.fromEntries(pinned.map(({ name, default: value }) => [name, value]));
  return withMembers(args, settled);
}

/**
 * @param args JSON text of an object
 * @throws BadRequest that names the argument whose reference leads nowhere, in a circle, or to what the job may not read
 */
export async function followReferences(
  app: App,
  job: Job,
  args: string,
  place: FlowPlace | undefined,
): Promise<PlainArguments> {
  const token = `token-${Bun.randomUUIDv7()}`;
  const reading = await beginReading(app, job, { ...jobEnvironment(app, job, place), WM_TOKEN: token });
  const text = await followed(args, reading.references);
  if (text === args) return { args, secrets: [], token_placeholder: undefined };
  const secrets = await reading.end();
  refuseDeep(text, "what the arguments refer to", MAX_DEPTH_WITHIN);
  return { args: text, secrets, token_placeholder: text.includes(token) ? token : undefined };
}

/** @returns the same text when it refers to nothing */
async function followed(args: string, references: References): Promise<string> {
  if (args.length > LONG) return interpolateLong(args, references);
  const value = parseJson(args) as Record<string, unknown>;
  return (await interpolateArguments(value, references)) ? JSON.stringify(value) : args;
}

/** One reading on behalf of a job: what its references lead to, and in the end which secrets were among it. */
export interface Reading {
  references: References;
  /** Leaves the audit rows of the secrets that were read. @returns their values */
  end(): Promise<string[]>;
}

/** @param environment the contextual variables that `$NAME` stands for */
export async function beginReading(
  app: App,
  job: Job,
  environment: Record<string, string> = {},
): Promise<Reading> {
  const ctx = await jobContext(app, job);
  const variables = new Map<string, string>();
  const sealed: string[] = [];
  return {
    references: {
      resource: async (path) => (await getResource(ctx, path)).value,
      variable: async (path) => {
        const row = await getVariable(ctx, path);
        const plain = await openValue(app, await withFreshToken(app, row));
        if (row.is_secret) variables.set(path, plain);
        return plain;
      },
      sealed: async (text) => {
        const opened = await openSealed(app, job, text);
        sealed.push(...textsIn(opened));
        return opened;
      },
      contextual: (name) => (Object.hasOwn(environment, name) ? environment[name] : undefined),
    },
    async end() {
      if (variables.size > 0) await recordReads(app, job, ctx.username, [...variables.keys()]);
      return [...variables.values(), ...sealed];
    },
  };
}

/** The rows that reading these secrets one by one would leave. */
function recordReads(app: App, job: Job, username: string, paths: string[]): Promise<void> {
  const common = { timestamp: app.clock(), workspace_id: job.workspace_id, username, email: job.email };
  return app.db.write(async (tx) => {
    for (const resource of paths) {
      await recordAudit(tx, { ...common, audit: SECRET_READ, resource, parameters: { job_id: job.id } });
    }
  });
}

/** Every text in a value; of one that is no text, none. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (!isContainer(value)) return [];
  return Object.values(value).flatMap(textsIn);
}
