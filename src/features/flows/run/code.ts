/** The code of scripts that are written inside flows. */
import type { App } from "../../../context.ts";
import { Internal } from "../../../errors.ts";
import type { RawScript } from "../../../flow-engine/types.ts";
import { analyseScript } from "../../../languages/analyse.ts";
import type { Language, Signature } from "../../../languages/types.ts";
import { sha256 } from "../../../lib/ids.ts";
import { perApp } from "../../../lib/per-app.ts";
import type { Job } from "../../../queue/tables.ts";
import type { RunnableVersion } from "../../../runner/types.ts";
import { flowValueOf } from "../versions.ts";
import { leafOf, moduleIndex } from "./modules.ts";

/** Signatures by version id: reading them from the source on each run would cost more than the run. */
const signaturesOf = perApp<App, Map<string, Signature>>(() => new Map());
const MAX_SIGNATURES = 10_000;

/** What a step's process loads. The same code in the same language is the same version, whichever flow it stands in. */
export async function flowScriptVersion(app: App, job: Job): Promise<RunnableVersion> {
  const { language, content, lock } = await sourceOf(app, job);
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
