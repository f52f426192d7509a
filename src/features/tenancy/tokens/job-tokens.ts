/**
 * The tokens that jobs are given: in memory only, each its own, answering until its job has ended. A token is the name of
 * the script process that runs the job, which all jobs of that process share, and a secret of the job alone.
 *
 * A job may call any server, by the public address, and only the server that runs it knows the token. The name says which
 * server that is, in a way that nobody can make up who has not the instance key: whatever else is unknown costs the other
 * servers nothing.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { RunnerOptions } from "../../../engines/runner/types.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { randomText, sha256 } from "../../../lib/text/ids.ts";
import type { App, Identity } from "../../../platform/app/context.ts";
import { askedElsewhere } from "../../../platform/cluster/request-reply.ts";
import { PREFIX_LENGTH } from "./tables.ts";

const NONCE_LENGTH = 16;
const MARK_LENGTH = 6;
const PROOF_LENGTH = 10;
const NAME_LENGTH = NONCE_LENGTH + MARK_LENGTH + PROOF_LENGTH;
const SECRET_LENGTH = 32;

interface RunningJob {
  token: string;
  identity: Identity;
}

/** Jobs that script processes run right now, by the name of the process. */
const runningOf = perApp<App, Map<string, RunningJob>>(() => new Map());

/** The tokens of script processes. @returns the runner's hook */
export function createJobTokens(app: App): RunnerOptions["tokensFor"] {
  const running = runningOf(app);
  return ({ workspace_id, permissioned_as, email }) => {
    const name = newName(app);
    return {
      begin(job_id) {
        const token = name + crypto.randomUUID().replaceAll("-", "");
        running.set(name, { token, identity: identityOf(token, job_id) });
        return token;
      },
      end: () => running.delete(name),
    };

    function identityOf(token: string, job_id: string): Identity {
      const shown = token.slice(0, PREFIX_LENGTH);
      return {
        email,
        super_admin: false,
        devops: false,
        token: {
          hash: name,
          prefix: shown,
          label: "ephemeral-script",
          scopes: undefined,
          workspace_id,
          expiration: undefined,
          job: { id: job_id, permissioned_as },
        },
      };
    }
  };
}

/** Whose token this is, when it is that of a job that runs here. */
export function jobHere(app: App, value: string): Identity | undefined {
  if (value.length !== NAME_LENGTH + SECRET_LENGTH) return undefined;
  const job = runningOf(app).get(value.slice(0, NAME_LENGTH));
  return job && timingSafeEqual(Buffer.from(job.token), Buffer.from(value, "latin1"))
    ? job.identity
    : undefined;
}

/** Random text, whose server's script process it names, and that it was one of ours: 32 letters and digits. */
function newName(app: App): string {
  const body = randomText(NONCE_LENGTH) + markOf(app);
  return body + proofOf(app, body);
}

/** Tells a token of another server's job from one that is not, or was minted here. */
export function mayBeJobElsewhere(app: App, value: string): boolean {
  if (!app.db.channel || value.length !== NAME_LENGTH + SECRET_LENGTH) return false;
  const body = value.slice(0, NAME_LENGTH - PROOF_LENGTH);
  const proof = Buffer.from(value.slice(NAME_LENGTH - PROOF_LENGTH, NAME_LENGTH));
  const wanted = Buffer.from(proofOf(app, body));
  if (proof.length !== wanted.length || !timingSafeEqual(proof, wanted)) return false;
  return !body.endsWith(markOf(app));
}

const markOf = (app: App) => sha256(app.queue.worker).slice(0, MARK_LENGTH);

const proofOf = (app: App, body: string) =>
  createHmac("sha256", app.instanceKey).update(`job token ${body}`).digest("hex").slice(0, PROOF_LENGTH);

const askForJob = askedElsewhere<[name: string, hash: string]>("job of token", (app, name, hash) => {
  const job = runningOf(app).get(name);
  return job && sha256(job.token) === hash ? JSON.stringify(job.identity) : undefined;
});

/** Asked anew each time: the job may have ended. */
export async function jobElsewhere(app: App, value: string): Promise<Identity | undefined> {
  const answer = await askForJob(app, value.slice(0, NAME_LENGTH), sha256(value));
  return answer === undefined ? undefined : (JSON.parse(answer) as Identity);
}
