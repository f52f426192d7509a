import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  setScheduleEnabled,
} from "../../client/operations/triggers.ts";
import { readJsonArguments } from "../../program/arguments.ts";
import {
  createCommand,
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, printTable } from "../../terminal/text/output.ts";
import { formatDistance, formatTime, LOCAL_TIMEZONE } from "../../terminal/text/times.ts";
import { listNextTimes, requireCron } from "./schedule-times.ts";
import { updateCommand } from "./schedule-update.ts";

interface CreateOptions extends WorkspaceOptions {
  run?: string;
  flow?: boolean;
  timezone: string;
  data?: string;
  summary?: string;
  off?: boolean;
}

const create = createWorkspaceCommand(
  "create",
  "run a script or flow on a cron schedule; shows the next five times",
)
  .argument("<path>", "path of the schedule, such as u/ann/nightly")
  .argument("<cron>", "five fields (minute hour day month weekday), or six with seconds first", requireCron)
  .argument("[target]", "the script or flow that runs (default: the one at the schedule's own path)")
  .argument("[arguments...]", "arguments of each run: name=value, such as full=true; values may be JSON")
  .option("--run <path>", "the target, as an option")
  .option("--flow", "it is a flow")
  .option("--timezone <name>", "IANA name, such as Europe/Berlin", LOCAL_TIMEZONE)
  .option("-d, --data <json>", "arguments: JSON, @file, or - for stdin")
  .option("--summary <text>", "one line that says what it is for")
  .option("--no-overlap", "skip a run while the previous one is still running")
  .option("--off", "do not switch it on yet")
  .addHelpText(
    "after",
    formatExamples(
      "svc schedule create u/ann/nightly '0 3 * * *' u/ann/report",
      "svc schedule create f/shop/sync '*/30 * * * * *' full=true --flow \\\n      --timezone UTC --workspace acme",
    ),
  )
  .action(
    async (
      path: string,
      cron: string,
      third: string | undefined,
      rest: string[],
      options: CreateOptions & { overlap: boolean },
    ) => {
      const { target = path, words } = splitTarget(third, rest, options.run);
      const data = await readJsonArguments(options.data);
      const made = await withClient(options, async (client) => {
        const workspace = await resolveWorkspace(client, options.workspace);
        const code = options.flow ? { flow: target } : { path: target };
        // Loaded on demand, because it has many dependencies.
        const { resolveArguments } = await import("../../jobs/check-arguments.ts");
        const args = await resolveArguments(client, code, workspace, { data, words });
        const body = {
          path,
          schedule: cron,
          timezone: options.timezone,
          script_path: target,
          is_flow: options.flow,
          args,
          summary: options.summary,
          no_flow_overlap: !options.overlap,
          enabled: !options.off,
        };
        await client.call(createSchedule, { workspace, body });
        const schedule = await client.call(getSchedule, { workspace, path });
        return { schedule, next: options.off ? [] : await listNextTimes(client, cron, options.timezone) };
      });
      if (options.json) return printJson(made.schedule);
      printNote(`schedule ${path} created${options.off ? ", switched off" : ""}`);
      for (const time of made.next) printNote(`  ${formatTime(time, options.timezone)}`);
    },
  );

/** Returns schedule and target: the first argument may be the target. @throws a usage error for two targets */
function splitTarget(third: string | undefined, rest: string[], option: string | undefined) {
  if (third === undefined || third.includes("=")) {
    return { target: option, words: third === undefined ? rest : [third, ...rest] };
  }
  if (option === undefined) return { target: third, words: rest };
  throw createUsageError(`${third} and --run ${option}: a schedule runs one script or flow`, "name it once");
}

const list = createWorkspaceCommand("list", "list schedules")
  .addHelpText("after", formatExamples("svc schedule list --workspace acme"))
  .action(async (options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(listSchedules, { workspace: await resolveWorkspace(client, options.workspace) }),
    );
    if (options.json) return printJson(found);
    await printTable(
      found,
      [
        { title: "PATH", value: (row) => row.path, cut: "start" },
        { title: "CRON", value: (row) => row.schedule, cut: "never" },
        { title: "ZONE", value: (row) => row.timezone },
        { title: "RUNS", value: (row) => row.script_path, cut: "start" },
        { title: "NEXT", value: (row) => (row.next_at ? formatDistance(row.next_at as string) : "off") },
        { title: "ERROR", value: (row) => row.error ?? "" },
      ],
      "no schedules; svc schedule create --help",
    );
  });

const show = createWorkspaceCommand("show", "show a schedule and its next five times")
  .argument("<path>", "path of the schedule")
  .addHelpText("after", formatExamples("svc schedule show u/ann/nightly --workspace acme"))
  .action(async (path: string, options: WorkspaceOptions) => {
    const { found, next } = await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      const schedule = await client.call(getSchedule, { workspace, path });
      const { enabled, schedule: cron, timezone, paused_until } = schedule;
      const times = enabled ? await listNextTimes(client, cron, timezone, paused_until) : [];
      return { found: schedule, next: times };
    });
    if (options.json) return printJson(found);
    print(`${found.path}: ${found.schedule} in ${found.timezone}, runs ${found.script_path}`);
    if (found.error) print(`could not run last time: ${found.error}`);
    if (!found.enabled) print("switched off");
    const paused = found.paused_until && new Date(found.paused_until);
    if (paused && paused > new Date()) print(`paused until ${formatTime(paused, found.timezone)}`);
    for (const time of next) print(`  ${formatTime(time, found.timezone)}`);
  });

function createSwitchCommand(name: string, enabled: boolean) {
  return createWorkspaceCommand(name, `switch a schedule ${enabled ? "on" : "off"}`)
    .argument("<path>", "path of the schedule")
    .addHelpText("after", formatExamples(`svc schedule ${name} u/ann/nightly --workspace acme`))
    .action(async (path: string, options: WorkspaceOptions) => {
      const said = await withClient(options, async (client) =>
        client.call(setScheduleEnabled, {
          workspace: await resolveWorkspace(client, options.workspace),
          path,
          body: { enabled },
        }),
      );
      printNote(said);
    });
}

const remove = createWorkspaceCommand("delete", "delete a schedule; running jobs continue")
  .argument("<path>", "path of the schedule")
  .addHelpText("after", formatExamples("svc schedule delete u/ann/nightly --workspace acme"))
  .action(async (path: string, options: WorkspaceOptions) => {
    const said = await withClient(options, async (client) =>
      client.call(deleteSchedule, { workspace: await resolveWorkspace(client, options.workspace), path }),
    );
    printNote(said);
  });

const preview = createCommand("preview", "show the next five times of a cron expression")
  .argument("<cron>", "five fields (minute hour day month weekday), or six with seconds first", requireCron)
  .option("--timezone <name>", "IANA name, such as Europe/Berlin", LOCAL_TIMEZONE)
  .addHelpText("after", formatExamples("svc schedule preview '0 9 * * 1-5' --timezone Europe/Berlin"))
  .action(async (cron: string, options: WorkspaceOptions & { timezone: string }) => {
    const next = await withClient(options, (client) => listNextTimes(client, cron, options.timezone));
    if (options.json) return printJson(next);
    for (const time of next) print(formatTime(time, options.timezone));
  });

export default createNoun(
  "schedule",
  "run scripts and flows at given times",
  create,
  list,
  show,
  updateCommand,
  createSwitchCommand("enable", true),
  createSwitchCommand("disable", false),
  remove,
  preview,
).addHelpText(
  "after",
  formatExamples("svc schedule create u/ann/nightly '0 3 * * *' u/ann/report", "svc schedule list"),
);
