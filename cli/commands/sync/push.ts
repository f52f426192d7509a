import { examples, withClient, workspaceFor } from "../../program/command.ts";
import { deploy } from "../../sync/deploy/deploy.ts";
import type { Deployment } from "../../sync/deploy/deployment.ts";
import { fileTypesOf } from "../../sync/deploy/remote-types.ts";
import {
  type Done,
  printPlan,
  rootOf,
  type SyncOptions,
  selectionOf,
  syncCommand,
  tellDone,
  tellProblems,
  unread,
} from "../../sync/options.ts";
import { planPush } from "../../sync/plan.ts";
import { readArchive } from "../../sync/read/archive.ts";
import { canonical } from "../../sync/read/canonical.ts";
import { writeItem } from "../../sync/read/files.ts";
import { type Folder, readFolder } from "../../sync/read/folder.ts";
import { keyOf } from "../../sync/read/items.ts";
import { included } from "../../sync/read/wmill-settings.ts";
import { counted, showPlan, showStrays } from "../../sync/show/show.ts";
import { withProgress } from "../../terminal/progress.ts";
import { confirmFirst } from "../../terminal/prompts.ts";
import { CliError, EXIT, usageError } from "../../terminal/text/failure.ts";
import { note } from "../../terminal/text/output.ts";

export default syncCommand(
  "push",
  "deploy a folder of files to a workspace",
  "delete items that have no file (scripts and flows are archived)",
)
  .option("--message <text>", "what changed, for the history")
  .addHelpText(
    "after",
    `${examples(
      "svc push --dry-run",
      "svc push ./acme --workspace acme",
      'svc push --yes --delete --message "$(git log -1 --format=%s)"',
    )}

The files are the ones of svc pull and wmill sync. What the service generates
(locks, schemas) is written back into the folder afterwards.`,
  )
  .action(async (given: string, options: SyncOptions & { message?: string }) => {
    const selection = selectionOf(options);
    const folder = await readFolder(rootOf(given), selection);
    if (folder.items.size === 0) {
      const [problem] = folder.problems;
      if (problem) throw usageError(problem.reason);
      throw usageError(
        `${given} holds nothing of a workspace: no script, no flow, no .yaml of one`,
        "svc pull fills a folder",
      );
    }
    await withClient(
      options,
      async (client) => {
        const workspace = await workspaceFor(client, options.workspace);
        const read = () => readArchive(client, workspace, selection);
        const remote = await withProgress("comparing", read);
        const deletes = options.delete ?? false;
        if (deletes && folder.problems.length > 0) {
          tellProblems(folder);
          throw usageError("nothing is deleted while files cannot be read: what they describe would be gone");
        }
        const plan = planPush(folder, included(folder, remote), deletes);
        if (!options.json) {
          showPlan(plan, "push");
          showStrays(folder);
        }
        if (plan.steps.length === 0 || options.dryRun) {
          if (options.json) printPlan(plan, folder);
          else tellProblems(folder);
          if (folder.problems.length > 0) throw unread(folder);
          return;
        }
        await confirmFirst(options.yes, `Change workspace ${workspace} so?`);
        const { secrets } = selection;
        const at: Deployment = { client, workspace, secrets, message: options.message, remote };
        const done = await deployAll(at, plan.steps);
        const completed = await complete(at, folder, done, await read());
        if (!options.json && completed.length > 0) {
          note(`${counted(completed.length, "item")} completed in the folder: ${completed.join(", ")}`);
        }
        tellDone(done, options, { completed }, folder);
      },
      "own",
    );
  });

/** One after the other. What is refused holds up nothing else; a server that is gone does. */
async function deployAll(at: Deployment, steps: Done["step"][]): Promise<Done[]> {
  return withProgress("deploying", async (tell) => {
    const done: Done[] = [];
    for (const step of steps) {
      tell(`${done.length + 1} of ${steps.length}: ${step.item.kind} ${step.item.path}`);
      const error = await deploy(at, step).then(
        () => undefined,
        (cause: Error) => {
          if (cause instanceof CliError && cause.exit_code !== EXIT.unreachable) return cause.message;
          throw cause;
        },
      );
      done.push(error === undefined ? { step } : { step, error });
    }
    return done;
  });
}

/**
 * Writes into the folder what the service found by itself for what was deployed: locks, schemas, defaults. The next plan
 * is empty then.
 * @returns the items' paths
 */
async function complete(
  { client, workspace }: Deployment,
  folder: Folder,
  done: Done[],
  remote: Awaited<ReturnType<typeof readArchive>>,
): Promise<string[]> {
  const completed: string[] = [];
  const file_types = await fileTypesOf(client, workspace, [...remote.values()]);
  for (const { step, error } of done) {
    if (step.change === "delete" || error !== undefined) continue;
    const key = keyOf(step.item);
    const [local, there] = [folder.items.get(key), remote.get(key)];
    if (!local || !there || Bun.deepEquals(canonical(local), canonical(there))) continue;
    await writeItem(folder.root, there, { naming: folder.naming, file_types }, local);
    completed.push(local.path || local.kind);
  }
  return completed;
}
