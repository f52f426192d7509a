import { isUuid } from "../../../src/lib/text/ids.ts";
import { batchRerunJobs } from "../../client/operations/runs.ts";
import { readJob } from "../../jobs/wait.ts";
import { readArguments } from "../../program/arguments.ts";
import {
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { followRun, printJobId } from "./run.ts";

interface RerunOptions extends WorkspaceOptions {
  data?: string;
  sameVersion?: boolean;
  async?: boolean;
  log: boolean;
}

/** `svc job rerun`: runs the same code with the same arguments, except for given ones. */
export const rerunCommand = createWorkspaceCommand("rerun", "run a script or flow again, as a job ran it")
  .argument("<id>", "id of the job")
  .argument("[arguments...]", "arguments that differ: name=value")
  .option("-d, --data <json>", "arguments that differ: JSON, @file, or - for stdin")
  .option("--same-version", "run the version that ran then, not the newest")
  .option("--async", "print the job's id and do not wait for it")
  .option("--no-log", "leave its log out")
  .addHelpText("after", formatExamples("svc job rerun $ID", "svc job rerun $ID name=Bob --async"))
  .action(async (id: string, words: string[], options: RerunOptions) => {
    if (!isUuid(id))
      throw createUsageError(`"${id}" is not the id of a job: it must be a UUID`, "svc job list");
    const changed = Object.entries(await readArguments(options.data, words));
    await withClient(
      options,
      async (client) => {
        const workspace = await resolveWorkspace(client, options.workspace);
        const { script_path, job_kind } = await readJob(client, { workspace, id });
        const how = {
          use_latest_version: !options.sameVersion,
          input_transforms: Object.fromEntries(
            changed.map(([name, value]) => [name, { type: "static" as const, value }]),
          ),
        };
        const by_path = script_path ? { [script_path]: how } : {};
        const body = { job_ids: [id], script_options_by_path: by_path, flow_options_by_path: by_path };
        const ids = await client.call(batchRerunJobs, { workspace, body });
        const job = { workspace, id: ids.trim() };
        if (options.async) printJobId(client, job, options);
        else await followRun(client, job, options, job_kind === "flow");
      },
      options.async ? "none" : "own",
    );
  });
