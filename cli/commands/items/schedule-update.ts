import { getSchedule, updateSchedule } from "../../client/operations/triggers.ts";
import { readJsonArguments } from "../../program/arguments.ts";
import {
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { createUpdateBody } from "../../program/records.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { printJson, printNote } from "../../terminal/text/output.ts";
import { formatTime } from "../../terminal/text/times.ts";
import { listNextTimes, requireCron } from "./schedule-times.ts";

interface UpdateOptions extends WorkspaceOptions {
  cron?: string;
  timezone?: string;
  data?: string;
  summary?: string;
  overlap?: boolean;
}

/** `svc schedule update`: changes the given fields and keeps the others. */
export const updateCommand = createWorkspaceCommand("update", "change a schedule; what is not given stays")
  .argument("<path>", "path of the schedule")
  .argument("[arguments...]", "arguments to change, for each run: name=value, such as full=true")
  .option(
    "--cron <expression>",
    "five fields (minute hour day month weekday), or six with seconds first",
    requireCron,
  )
  .option("--timezone <name>", "IANA name, such as Europe/Berlin")
  .option("-d, --data <json>", "replaces all arguments: JSON, @file, or - for stdin")
  .option("--summary <text>", "one line that says what it is for")
  .option("--overlap", "run also while the previous run is still running")
  .option("--no-overlap", "skip a run while the previous one is still running")
  .addHelpText(
    "after",
    formatExamples(
      "svc schedule update u/ann/nightly --cron '0 4 * * *'",
      "svc schedule update u/ann/nightly full=true",
    ),
  )
  .action(async (path: string, words: string[], options: UpdateOptions) => {
    const { cron: schedule, timezone, summary, overlap } = options;
    const changes = {
      schedule,
      timezone,
      summary,
      no_flow_overlap: overlap === undefined ? undefined : !overlap,
    };
    const hasArguments = options.data !== undefined || words.length > 0;
    if (!hasArguments && Object.values(changes).every((value) => value === undefined)) {
      throw createUsageError(
        "no change is given",
        "say what, such as --cron or name=value; svc schedule update --help",
      );
    }
    const given = options.data === undefined ? undefined : await readJsonArguments(options.data);
    const { changed, next } = await withClient(options, async (client) => {
      const place = { workspace: await resolveWorkspace(client, options.workspace), path };
      const { path: _, script_path, is_flow, ...before } = await client.call(getSchedule, place);
      const code = is_flow ? { flow: script_path } : { path: script_path };
      const data = given ?? before.args ?? {};
      // Loaded on demand, because it has many dependencies.
      const { resolveArguments } = await import("../../jobs/check-arguments.ts");
      const args = hasArguments
        ? await resolveArguments(client, code, place.workspace, { data, words })
        : undefined;
      const body = createUpdateBody(before, { ...changes, args });
      await client.call(updateSchedule, { ...place, body: body as never });
      const changed = await client.call(getSchedule, place);
      const times = changed.enabled ? await listNextTimes(client, changed.schedule, changed.timezone) : [];
      return { changed, next: times };
    });
    if (options.json) return printJson(changed);
    printNote(`schedule ${path} changed${changed.enabled ? "" : "; it is switched off"}`);
    for (const time of next) printNote(`  ${formatTime(time, changed.timezone)}`);
  });
