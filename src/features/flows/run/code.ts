/** The code of scripts that are written inside flows. */
import type { App } from "../../../context.ts";
import { Internal } from "../../../errors.ts";
import type { RawScript } from "../../../flow-engine/types.ts";
import { analyseScript, usableLock } from "../../../languages/analyse.ts";
import type { Language, Packages, Signature } from "../../../languages/types.ts";
import { sha256 } from "../../../lib/ids.ts";
import { perApp } from "../../../lib/per-app.ts";
import type { Job } from "../../../queue/tables.ts";
import type { RunnableVersion } from "../../../runner/types.ts";
import { flowValueOf } from "../versions.ts";
import { leafOf, moduleIndex } from "./modules.ts";

/** Signatures by version id: reading them from the source on each run would cost more than the run. */
const signaturesOf = perApp<App, Map<string, Signature>>(() => new Map());
const MAX_SIGNATURES = 10_000;

/**
 * What a step's process loads. The same code in the same language is the same version, whichever flow it stands in.
 * @param findLock for a script of a flow that is not deployed, which may have no lock yet
 */
export async function flowScriptVersion(app: App, job: Job, findLock: FindLock): Promise<RunnableVersion> {
  const source = await sourceOf(app, job);
  const { language, content } = source;
  const lock =
    source.lock === ""
      ? ""
      : ((await usableLock(language, source.lock)) ?? (await lockOf(app, job.root_job, source, findLock)));
  const id = sha256(`${language}\n${lock}\n${content}`).slice(0, 32);
  const signatures = signaturesOf(app);
  let signature = signatures.get(id);
  if (!signature) {
    signature = (await analyseScript(language, content)).signature;
    if (signatures.size >= MAX_SIGNATURES) signatures.delete(signatures.keys().next().value!);
    signatures.set(id, signature);
  }
  return {
    id,
    workspace_id: job.workspace_id,
    path: job.script_path ?? undefined,
    language,
    content,
    lock,
    parameters: signature.parameters,
    preprocessor_parameters: signature.preprocessor,
    envs: [],
    isolation: "shared",
  };
}

type FindLock = (packages: Packages | undefined) => Promise<string>;

const locksOf = perApp<App, Map<string, Promise<string>>>(() => new Map());
const MAX_LOCKS = 1_000;
/** How long one is kept: longer than it takes to begin all steps of most runs. */
const LOCK_MS = 300_000;

/** Found once for all iterations of a loop of one run. @throws DependencyError */
function lockOf(
  app: App,
  root_job: string | null,
  { language, content }: Source,
  findLock: FindLock,
): Promise<string> {
  const locks = locksOf(app);
  const name = sha256(`${root_job}\n${language}\n${content}`);
  const known = locks.get(name);
  if (known) return known;
  const found = analyseScript(language, content).then(({ packages }) => findLock(packages));
  const forget = () => {
    if (locks.get(name) === found) locks.delete(name);
  };
  found.then(() => setTimeout(forget, LOCK_MS).unref(), forget);
  if (locks.size >= MAX_LOCKS) locks.delete(locks.keys().next().value!);
  locks.set(name, found);
  return found;
}

interface Source {
  language: Language;
  content: string;
  lock: string | undefined;
}

async function sourceOf(app: App, job: Job): Promise<Source> {
  const language = job.language as Language;
  if (job.raw_code !== null) return { language, content: job.raw_code, lock: job.raw_lock ?? undefined };
  const value = await flowValueOf(app, job.workspace_id, job.flow_version ?? 0);
  const module = moduleIndex(value).get(job.flow_step_id ?? "");
  const leaf = module && leafOf(module).value;
  if (leaf?.type !== "rawscript") throw new Internal(`step ${job.flow_step_id} is no script`);
  const { content, lock } = leaf satisfies RawScript;
  return { language, content, lock };
}
