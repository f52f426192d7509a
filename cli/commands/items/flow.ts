import { existsSync } from "node:fs";
import { Option } from "commander";
import type { NewFlow } from "../../../src/features/code/flows/records.ts";
import { toRunnableFlow } from "../../../src/features/code/flows/value/to-runnable.ts";
import { sleep } from "../../../src/lib/async/sleep.ts";
import {
  checkFlow,
  createFlow,
  getFlowByPath,
  getFlowDeploymentStatus,
  listFlows,
  updateFlow,
} from "../../client/operations/code.ts";
import type { ServiceClient } from "../../client/transport.ts";
import { printDeployed } from "../../jobs/deployed.ts";
import { type FlowFile, parseFolderPath, readFlowFile } from "../../jobs/flow-file.ts";
import type { RunTarget } from "../../jobs/start.ts";
import {
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { withProgress } from "../../terminal/progress.ts";
import { CliError, createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, printTable, writeText } from "../../terminal/text/output.ts";
import { formatMermaid } from "../../terminal/tree/flow-mermaid.ts";
import { createTreeLines, drawTree } from "../../terminal/tree/flow-tree.ts";
import { isDeployed, type RunCommandOptions, runCode } from "../runs/run.ts";
import { flowVersionCommands } from "./versions.ts";

const push = createWorkspaceCommand("push", "deploy a file as a new version of a flow")
  .argument("<file>", "OpenFlow in YAML or JSON, or a folder with a flow.yaml")
  .argument("[path]", "such as u/ann/order or f/shop/order")
  .option("--path <path>", "the path, as an option instead of an argument")
  .option("--message <text>", "what changed, for the history")
  .option("--no-wait", "do not wait for the dependencies of its scripts")
  .addHelpText(
    "after",
    formatExamples(
      "svc flow push order.yaml u/ann/order --workspace acme",
      "svc flow push f/shop/order.flow --message 'Sends mail'",
    ),
  )
  .action(
    async (
      given: string,
      argument: string | undefined,
      options: WorkspaceOptions & { path?: string; message?: string; wait: boolean },
    ) => {
      const file = await readFlowFile(given);
      const path = resolvePath(given, file, argument, options.path);
      const body = { ...file, path, deployment_message: options.message } as NewFlow;
      const { version, workspace, schema } = await withClient(
        options,
        async (client) => {
          const workspace = await resolveWorkspace(client, options.workspace);
          await deployFlow(client, workspace, body);
          await warnOfProblems(client, workspace, body.value);
          if (options.wait && !body.draft_only)
            await withProgress("resolving dependencies", () => waitUntilReady(client, workspace, path));
          const { version_id: version, schema } = await client.call(getFlowByPath, { workspace, path });
          return { workspace, version, schema };
        },
        "own",
      );
      if (options.json) printJson({ path, version });
      else
        printDeployed(options, {
          path,
          workspace,
          version: String(version),
          kind: "flow",
          schema,
          runs: true,
        });
    },
  );

/** Returns the path given as an argument, else in the file, else by its folder. @throws a usage error */
function resolvePath(
  given: string,
  file: FlowFile,
  argument: string | undefined,
  option: string | undefined,
): string {
  if (argument !== undefined && option !== undefined && argument !== option) {
    throw createUsageError(`two paths were given: ${argument} and --path ${option}`, "leave one of them out");
  }
  const own = typeof file.path === "string" ? file.path : parseFolderPath(given);
  const path = argument ?? option ?? own;
  if (path === undefined)
    throw createUsageError("the path is missing", "svc flow push <file> u/<user>/<name>");
  return path;
}

async function deployFlow(client: ServiceClient, workspace: string, body: NewFlow): Promise<void> {
  const { path } = body;
  const before = await client.call(getFlowByPath, { workspace, path }).catch((cause: CliError) => {
    if (cause.name === "NotFound") return undefined;
    throw cause;
  });
  if (before) await client.call(updateFlow, { workspace, path, body });
  else await client.call(createFlow, { workspace, body });
}

/** Prints what will fail when the flow runs; such a flow is stored all the same. */
async function warnOfProblems(client: ServiceClient, workspace: string, value: unknown): Promise<void> {
  const { problems } = await client.call(checkFlow, { workspace, body: { value } });
  for (const { path, message } of problems) printNote(`warning: ${path.join(".")}: ${message}`);
}

const POLL_INTERVAL_MS = 100;

async function waitUntilReady(client: ServiceClient, workspace: string, path: string): Promise<void> {
  for (;;) {
    const { ready, lock_error_logs } = await client.call(getFlowDeploymentStatus, { workspace, path });
    if (ready) return;
    if (lock_error_logs !== undefined) {
      throw new CliError("DependencyError", `the flow is stored but cannot run: ${lock_error_logs}`, {
        hint: "fix the import and push again; the previous version stays in use",
      });
    }
    await sleep(POLL_INTERVAL_MS);
  }
}

const list = createWorkspaceCommand("list", "list flows")
  .option("--prefix <path>", "only paths that begin with this")
  .option("--archived", "list the archived ones instead")
  .addHelpText("after", formatExamples("svc flow list --workspace acme"))
  .action(async (options: WorkspaceOptions & { prefix?: string; archived?: boolean }) => {
    const found = await withClient(options, async (client) =>
      client.call(listFlows, {
        workspace: await resolveWorkspace(client, options.workspace),
        query: { path_start: options.prefix, show_archived: options.archived },
      }),
    );
    if (options.json) return printJson(found);
    await printTable(
      found,
      [
        { title: "PATH", value: (row) => row.path },
        { title: "VERSION", value: (row) => String(row.version_id) },
        { title: "SUMMARY", value: (row) => row.summary },
      ],
      options.archived ? "no archived flows" : "no flows; svc flow push <file> u/<user>/<name>",
    );
  });

const run = createWorkspaceCommand("run", "run a flow, and show its steps while it runs")
  .argument("<path>", "such as u/ann/order, or a folder or file such as ./f/shop/order.flow")
  .argument("[arguments...]", "the flow's input: name=value, such as order=7")
  .option("-d, --data <json>", "the flow's input: JSON, @file, or - for stdin")
  .option("--async", "print the job's id and do not wait for it")
  .addOption(
    new Option("--stream", "print what its last step streams, as it comes").conflicts(["async", "json"]),
  )
  .addOption(new Option("--at <time>", "run it at this time; prints its id").conflicts("in"))
  .option("--in <time>", "run it after this time, such as 15m; prints its id")
  .option("--timeout <seconds>", "stop the job after this time")
  .option("--no-log", "leave the steps out")
  .option("--tag <tag>", "run it on a worker that serves this tag")
  .addHelpText(
    "after",
    formatExamples(
      `svc flow run u/ann/order -d '{"day":"2030-01-31"}'`,
      "svc flow run ./f/shop/order.flow day=2030-01-31",
    ),
  )
  .action(async (path: string, words: string[], options: RunCommandOptions) =>
    runCode(await readFlow(path), options, words),
  );

/** Returns the deployed flow, or the one that a folder or file on this machine describes. */
async function readFlow(given: string): Promise<RunTarget> {
  if (isDeployed(given) && !existsSync(given)) return { flow: given };
  const { value, schema, path = parseFolderPath(given) } = await readFlowFile(given);
  return { value, schema, ...(typeof path === "string" && { path }) };
}

const read = (path: string, options: WorkspaceOptions) =>
  withClient(options, async (client) =>
    client.call(getFlowByPath, { workspace: await resolveWorkspace(client, options.workspace), path }),
  );

const show = createWorkspaceCommand("show", "print a flow in the form that push takes")
  .argument("<path>")
  .addHelpText("after", formatExamples("svc flow show u/ann/order > order.yaml"))
  .action(async (path: string, options: WorkspaceOptions) => {
    const found = await read(path, options);
    if (options.json) return printJson(found);
    const { stringify } = await import("yaml");
    printNote(`${found.path}  version ${found.version_id}`);
    const { summary, description, value, schema } = found;
    writeText(process.stdout, stringify({ summary, description, value, schema: schema ?? undefined }));
  });

const graph = createWorkspaceCommand("graph", "draw the steps of a flow as a tree")
  .argument("<path>")
  .option("--mermaid", "print a Mermaid flowchart instead")
  .addHelpText(
    "after",
    formatExamples("svc flow graph u/ann/order", "svc flow graph u/ann/order --mermaid > order.mmd"),
  )
  .action(async (path: string, options: WorkspaceOptions & { mermaid?: boolean }) => {
    const { value: stored, summary } = await read(path, options);
    const value = toRunnableFlow(stored);
    const lines = createTreeLines(value);
    if (options.mermaid) {
      const mermaid = formatMermaid(path, value);
      if (options.json) printJson({ path, mermaid });
      else print(mermaid);
    } else if (options.json) printJson({ path, summary, steps: lines });
    else writeText(process.stdout, `${path}${summary ? `  ${summary}` : ""}\n${drawTree(lines)}`);
  });

export default createNoun(
  "flow",
  "deploy, run, list, draw, rename and delete flows",
  push,
  run,
  list,
  show,
  ...flowVersionCommands,
  graph,
).addHelpText(
  "after",
  formatExamples("svc flow push refund.yaml u/ann/refund", "svc flow run u/ann/refund -d '{\"order\":7}'"),
);
