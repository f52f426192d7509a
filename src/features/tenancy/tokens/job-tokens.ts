/**
 * Job tokens: kept in memory only, one per job, valid until the job ends. A token consists of the name of the script
 * process (shared by its jobs) and a secret of the job.
 *
 * A job may call any server through the public address, but only the server that runs it knows the token. The name
 * identifies that server and is authenticated with the instance key (HMAC), so forged tokens cause no queries to other
 * servers.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { RunnerOptions } from "../../../engines/runner/types.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { createRandomText, sha256 } from "../../../lib/text/ids.ts";
import type { App, Identity } from "../../../platform/app/context.ts";
import { defineQuery } from "../../../platform/cluster/request-reply.ts";
import { TOKEN_PREFIX_CHARS } from "./tables.ts";

const NONCE_CHARS = 16;
const SERVER_MARK_CHARS = 6;
const PROOF_CHARS = 10;
const PROCESS_NAME_CHARS = NONCE_CHARS + SERVER_MARK_CHARS + PROOF_CHARS;
const SECRET_CHARS = 32;
const SECRETS_AT_ONCE = 64;

interface RunningJob {
  token: string;
  id: string;
  /** As whom the jobs of its process run. */
  owner: Parameters<RunnerOptions["tokensFor"]>[0];
  isUsed: boolean;
}

/** The running and prefetched jobs of each script process, by process name. */
const runningJobs = memoizePerApp<App, Map<string, RunningJob[]>>(() => new Map());

/** Creates the runner's hook that issues and revokes job tokens. */
export function createJobTokens(app: App): RunnerOptions["tokensFor"] {
  const running = runningJobs(app);
  return (owner) => {
    const name = createProcessName(app);
    return {
      begin(job_id) {
        const token = name + createSecret();
        const held = running.get(name);
        const job = { token, id: job_id, owner, isUsed: false };
        if (held) held.push(job);
        else running.set(name, [job]);
        return token;
      },
      areUsed: () => running.get(name)?.some(({ isUsed }) => isUsed) ?? false,
      end(token) {
        const held = running.get(name);
        const at = held?.findIndex((job) => job.token === token) ?? -1;
        if (at >= 0) held!.splice(at, 1);
        if (held?.length === 0) running.delete(name);
      },
      endAll: () => running.delete(name),
    };
  };
}

/** Random bytes of the next secrets, as hexadecimal digits: one call makes them for many jobs. */
let digits = "";
let used = 0;

function createSecret(): string {
  if (used === digits.length) {
    digits = randomBytes(SECRETS_AT_ONCE * (SECRET_CHARS / 2)).toString("hex");
    used = 0;
  }
  used += SECRET_CHARS;
  return digits.slice(used - SECRET_CHARS, used);
}

function createIdentity({ token, id, owner }: RunningJob): Identity {
  const { workspace_id, permissioned_as, email } = owner;
  return {
    email,
    super_admin: false,
    devops: false,
    token: {
      hash: token.slice(0, PROCESS_NAME_CHARS),
      prefix: token.slice(0, TOKEN_PREFIX_CHARS),
      label: "ephemeral-script",
      scopes: undefined,
      workspace_id,
      expiration: undefined,
      job: { id, permissioned_as },
    },
  };
}

/** Returns the identity behind a token, if it is that of a job running on this server. */
export function findLocalJob(app: App, value: string): Identity | undefined {
  if (value.length !== PROCESS_NAME_CHARS + SECRET_CHARS) return undefined;
  const held = runningJobs(app).get(value.slice(0, PROCESS_NAME_CHARS)) ?? [];
  const given = Buffer.from(value, "latin1");
  return useToken(held.find(({ token }) => timingSafeEqual(Buffer.from(token), given)));
}

function useToken(job: RunningJob | undefined): Identity | undefined {
  if (!job) return undefined;
  job.isUsed = true;
  return createIdentity(job);
}

/** Creates the name of a script process: random text, a mark of this server, and an HMAC over both; 32 characters. */
function createProcessName(app: App): string {
  const body = createRandomText(NONCE_CHARS) + serverMark(app);
  return body + processNameProof(app, body);
}

/**
 * Returns whether the token carries a valid name of another server's process. Forged names and this server's own do
 * not.
 */
export function mayBeRemoteJob(app: App, value: string): boolean {
  if (!app.db.channel || value.length !== PROCESS_NAME_CHARS + SECRET_CHARS) return false;
  const body = value.slice(0, PROCESS_NAME_CHARS - PROOF_CHARS);
  const proof = Buffer.from(value.slice(PROCESS_NAME_CHARS - PROOF_CHARS, PROCESS_NAME_CHARS));
  const wanted = Buffer.from(processNameProof(app, body));
  if (proof.length !== wanted.length || !timingSafeEqual(proof, wanted)) return false;
  return !body.endsWith(serverMark(app));
}

const serverMark = (app: App) => sha256(app.queue.worker).slice(0, SERVER_MARK_CHARS);

const processNameProof = (app: App, body: string) =>
  createHmac("sha256", app.instanceKey).update(`job token ${body}`).digest("hex").slice(0, PROOF_CHARS);

const queryRemoteJob = defineQuery<[name: string, hash: string]>("job of token", (app, name, hash) => {
  const job = runningJobs(app)
    .get(name)
    ?.find(({ token }) => sha256(token) === hash);
  return job && JSON.stringify(useToken(job));
});

/** Asks the server that runs the job for its identity. Not cached, since the job may have ended. */
export async function findRemoteJob(app: App, value: string): Promise<Identity | undefined> {
  const answer = await queryRemoteJob(app, value.slice(0, PROCESS_NAME_CHARS), sha256(value));
  return answer === undefined ? undefined : (JSON.parse(answer) as Identity);
}
