import { Option } from "commander";
import { listFlows } from "../../../src/features/code/flows/list-operations.ts";
import {
  archiveFlowByPath,
  createFlow,
  getFlowByPath,
  getFlowDeploymentStatus,
  updateFlow,
} from "../../../src/features/code/flows/operations.ts";
import type { NewFlow } from "../../../src/features/code/flows/records.ts";
import { runnable } from "../../../src/features/code/flows/value/runnable.ts";
import type { Client } from "../../client/transport.ts";
import { type FlowFile, pathOfFolder, readFlowFile } from "../../jobs/flow-file.ts";
import {
  examples,
  inWorkspace,
  noun,
  type WorkspaceOptions,
  withClient,
  workspaceFor,
} from "../../program/command.ts";
import { withProgress } from "../../terminal/progress.ts";
import { CliError, usageError } from "../../terminal/text/failure.ts";
import { note, print, printJson, printTable, write } from "../../terminal/text/output.ts";
import { toMermaid } from "../../terminal/tree/flow-mermaid.ts";
import { drawTree, linesOf } from "../../terminal/tree/flow-tree.ts";
import { type RunOptions, runCode } from "../runs/run.ts";

const push = inWorkspace("push", "deploy a file as a new version of a flow")
  .argument("<file>", "OpenFlow in YAML or JSON, or a folder with a flow.yaml")
  .argument("[path]", "such as u/ann/order or f/shop/order")
  .option("--path <path>", "the path, as an option instead of an argument")
  .option("--message <text>", "what changed, for the history")
  .option("--no-wait", "do not wait for the dependencies of its scripts")
  .addHelpText(
    "after",
    examples(
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
      const path = pathFor(given, file, argument, options.path);
      const body = { ...file, path, deployment_message: options.message } as NewFlow;
      const version = await withClient(
        options,
        async (client) => {
          const workspace = await workspaceFor(client, options.workspace);
          await deploy(client, workspace, body);
          if (options.wait && !body.draft_only)
            await withProgress("resolving dependencies", () => waitReady(client, workspace, path));
          return (await client.call(getFlowByPath, { workspace, path })).version_id;
        },
        "own",
      );
      if (options.json) printJson({ path, version });
      else print(String(version));
    },
  );

/** The path of the arguments, else of the file, else of its folder. @throws a usage error */
function pathFor(
  given: string,
  file: FlowFile,
  argument: string | undefined,
  option: string | undefined,
): string {
  if (argument !== undefined && option !== undefined && argument !== option) {
    throw usageError(`two paths were given: ${argument} and --path ${option}`, "leave one of them out");
  }
  const own = typeof file.path === "string" ? file.path : pathOfFolder(given);
  const path = argument ?? option ?? own;
  if (path === undefined) throw usageError("the path is missing", "svc flow push <file> u/<user>/<name>");
  return path;
}

async function deploy(client: Client, workspace: string, body: NewFlow): Promise<void> {
  const { path } = body;
  const before = await client.call(getFlowByPath, { workspace, path }).catch((cause: CliError) => {
    if (cause.name === "NotFound") return undefined;
    throw cause;
  });
  if (before) await client.call(updateFlow, { workspace, path, body });
  else await client.call(createFlow, { workspace, body });
}

const POLL_MS = 100;

async function waitReady(client: Client, workspace: string, path: string): Promise<void> {
  for (;;) {
    const { ready, lock_error_logs } = await client.call(getFlowDeploymentStatus, { workspace, path });
    if (ready) return;
    if (lock_error_logs !== undefined) {
      throw new CliError("DependencyError", `the flow is stored but cannot run: ${lock_error_logs}`, {
        hint: "fix the import and push again; the previous version stays in use",
      });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const list = inWorkspace("list", "list flows")
  .option("--prefix <path>", "only paths that begin with this")
  .addHelpText("after", examples("svc flow list --workspace acme"))
  .action(async (options: WorkspaceOptions & { prefix?: string }) => {
    const found = await withClient(options, async (client) =>
      client.call(listFlows, {
        workspace: await workspaceFor(client, options.workspace),
        query: { path_start: options.prefix },
      }),
    );
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "PATH", value: (row) => row.path },
      { title: "VERSION", value: (row) => String(row.version_id) },
      { title: "SUMMARY", value: (row) => row.summary },
    ]);
  });

const run = inWorkspace("run", "run a flow, and show its steps while it runs")
  .argument("<path>", "such as u/ann/order")
  .option("-d, --data <json>", "the flow's input: JSON, @file, or - for stdin")
  .option("--async", "print the job's id and do not wait for it")
  .addOption(
    new Option("--stream", "print what its last step streams, as it comes").conflicts(["async", "json"]),
  )
  .option("--no-log", "leave the steps out")
  .option("--tag <tag>", "run it on a worker that serves this tag")
  .addHelpText("after", examples(`svc flow run u/ann/order -d '{"day":"2030-01-31"}'`))
  .action((path: string, options: RunOptions) => runCode({ flow: path }, options));

const read = (path: string, options: WorkspaceOptions) =>
  withClient(options, async (client) =>
    client.call(getFlowByPath, { workspace: await workspaceFor(client, options.workspace), path }),
  );

const show = inWorkspace("show", "print a flow in the form that push takes")
  .argument("<path>")
  .addHelpText("after", examples("svc flow show u/ann/order > order.yaml"))
  .action(async (path: string, options: WorkspaceOptions) => {
    const found = await read(path, options);
    if (options.json) return printJson(found);
    const { stringify } = await import("yaml");
    note(`${found.path}  version ${found.version_id}`);
    const { summary, description, value, schema } = found;
    write(process.stdout, stringify({ summary, description, value, schema: schema ?? undefined }));
  });

const archive = inWorkspace("archive", "archive a flow: it cannot be run any more")
  .argument("<path>")
  .addHelpText("after", examples("svc flow archive u/ann/order"))
  .action(async (path: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) =>
      client.call(archiveFlowByPath, {
        workspace: await workspaceFor(client, options.workspace),
        path,
        body: { archived: true },
      }),
    );
    if (options.json) printJson({ path, archived: true });
    else note(`archived ${path}`);
  });

const graph = inWorkspace("graph", "draw the steps of a flow as a tree")
  .argument("<path>")
  .option("--mermaid", "print a Mermaid flowchart instead")
  .addHelpText(
    "after",
    examples("svc flow graph u/ann/order", "svc flow graph u/ann/order --mermaid > order.mmd"),
  )
  .action(async (path: string, options: WorkspaceOptions & { mermaid?: boolean }) => {
    const { value: stored, summary } = await read(path, options);
    const value = runnable(stored);
    const lines = linesOf(value);
    if (options.mermaid) {
      const mermaid = toMermaid(path, value);
      if (options.json) printJson({ path, mermaid });
      else print(mermaid);
    } else if (options.json) printJson({ path, summary, steps: lines });
    else write(process.stdout, `${path}${summary ? `  ${summary}` : ""}\n${drawTree(lines)}`);
  });

export default noun(
  "flow",
  "deploy, run, list and draw flows",
  push,
  run,
  list,
  show,
  archive,
  graph,
).addHelpText(
  "after",
  examples("svc flow push refund.yaml u/ann/refund", "svc flow run u/ann/refund -d '{\"order\":7}'"),
);
