import { existsSync } from "node:fs";
import { join } from "node:path";
import { Option } from "commander";
import pythonClient from "../../../src/engines/runner/child/python-path/wmill.py" with { type: "text" };
import { sleep } from "../../../src/lib/async/sleep.ts";
import {
  createScript,
  getDependents,
  getScriptByPath,
  getScriptDeploymentStatus,
  listScripts,
} from "../../client/operations/code.ts";
import type { ServiceClient } from "../../client/transport.ts";
import { printDeployed } from "../../jobs/deployed.ts";
import { parseFileLanguage } from "../../jobs/file-language.ts";
import { prependFileName } from "../../jobs/outcome.ts";
import { readTextFile } from "../../program/arguments.ts";
import {
  createCommand,
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { parseWholeNumber } from "../../program/options.ts";
import { withProgress } from "../../terminal/progress.ts";
import { CliError, createUsageError } from "../../terminal/text/failure.ts";
import { printJson, printNote, printTable, writeText } from "../../terminal/text/output.ts";
import { createRunCommand, isDeployed } from "../runs/run.ts";
import { createNew } from "./script-new.ts";
import { scriptVersionCommands } from "./versions.ts";

interface PushOptions extends WorkspaceOptions {
  path?: string;
  summary?: string;
  message?: string;
  isolation?: "shared" | "fresh";
  memory?: string;
  validate?: boolean;
  wait: boolean;
}

/** Returns the settings that a new version takes from the previous one: all but the code and what is computed from it. */
async function readKeptSettings(before: unknown) {
  // Loaded here, because other commands start sooner without it.
  const { ScriptFields } = await import("../../../src/features/code/scripts/records.ts");
  const KeptSettings = ScriptFields.omit({
    content: true,
    language: true,
    schema: true,
    lock: true,
    no_main_func: true,
    has_preprocessor: true,
    parent_hash: true,
    deployment_message: true,
  });
  return KeptSettings.parse(before);
}

const push = createWorkspaceCommand("push", "deploy a file as a new version of a script")
  .argument("<file>", "a .ts, .js, .sh, .py, .pg.sql, .my.sql, .sqlite.sql or .gql file")
  .argument("[path]", "such as u/ann/hello or f/shop/order")
  .option("--path <path>", "the path, as an option instead of an argument")
  .option("--summary <text>", "one line that says what it does")
  .option("--message <text>", "what changed, for the history")
  .addOption(
    new Option("--isolation <kind>", "fresh: a new process for each run; unchanged when left out").choices([
      "shared",
      "fresh",
    ]),
  )
  .option("--memory <MB>", "maximum memory of a run; unchanged when left out")
  .option("--validate", "refuse calls whose arguments do not match the schema; unchanged when left out")
  .option("--no-validate", "accept any arguments")
  .option("--no-wait", "do not wait for its dependencies")
  .addHelpText("after", formatExamples("svc script push hello.ts u/ann/hello --workspace acme"))
  .action(async (file: string, argument: string | undefined, options: PushOptions) => {
    const path = resolvePath(file, argument, options.path);
    const memory_mb = options.memory === undefined ? undefined : parseWholeNumber("--memory", options.memory);
    const language = parseFileLanguage(file);
    const content = await readTextFile(file);
    const { hash, workspace, schema, no_main_func } = await withClient(
      options,
      async (client) => {
        const workspace = await resolveWorkspace(client, options.workspace);
        const before = await client.call(getScriptByPath, { workspace, path }).catch((cause: CliError) => {
          if (cause.name === "NotFound") return undefined;
          throw cause;
        });
        const kept = before && (await readKeptSettings(before));
        const deployed = await client.call(createScript, {
          workspace,
          body: {
            ...kept,
            path,
            content,
            language,
            summary: options.summary ?? kept?.summary,
            parent_hash: before?.archived ? undefined : before?.hash,
            deployment_message: options.message,
            isolation: options.isolation ?? kept?.isolation,
            memory_mb: memory_mb ?? kept?.memory_mb,
            validate: options.validate ?? kept?.validate,
          },
        });
        if (options.wait)
          await withProgress("resolving dependencies", () =>
            waitUntilReady(client, workspace, deployed, file),
          );
        const { schema, no_main_func } = await client.call(getScriptByPath, { workspace, path });
        return { hash: deployed, workspace, schema, no_main_func };
      },
      "own",
    );
    if (options.json) printJson({ path, hash });
    else
      printDeployed(options, { path, workspace, version: hash, kind: "script", schema, runs: !no_main_func });
  });

/** Returns the path, given as an argument or an option. @throws a usage error */
function resolvePath(file: string, argument: string | undefined, option: string | undefined): string {
  if (argument !== undefined && isDeployed(file) && !isDeployed(argument) && !existsSync(file)) {
    throw createUsageError("the file comes first", `svc script push ${argument} ${file}`);
  }
  if (argument !== undefined && option !== undefined && argument !== option) {
    throw createUsageError(`two paths were given: ${argument} and --path ${option}`, "leave one of them out");
  }
  const path = argument ?? option;
  if (path === undefined)
    throw createUsageError("the path is missing", "svc script push <file> u/<user>/<name>");
  return path;
}

const POLL_INTERVAL_MS = 100;

async function waitUntilReady(
  client: ServiceClient,
  workspace: string,
  hash: string,
  file: string,
): Promise<void> {
  for (;;) {
    const { lock, lock_error_logs } = await client.call(getScriptDeploymentStatus, { workspace, hash });
    if (lock !== undefined) return;
    if (lock_error_logs !== undefined) {
      const fault = prependFileName(lock_error_logs, file);
      throw new CliError("DependencyError", `version ${hash} is stored but cannot run: ${fault}`, {
        hint: "fix the error and push again; the previous version stays in use",
      });
    }
    await sleep(POLL_INTERVAL_MS);
  }
}

/** Formats the summary, with a mark if the newest version cannot run, or if other scripts import it. */
function formatSummary(script: { summary: string; has_deploy_errors?: boolean; no_main_func: boolean }) {
  const { summary, has_deploy_errors, no_main_func } = script;
  if (has_deploy_errors) return `cannot run: svc script push says why  ${summary}`.trimEnd();
  return no_main_func ? `to import: has no main  ${summary}`.trimEnd() : summary;
}

interface ListOptions extends WorkspaceOptions {
  prefix?: string;
  archived?: boolean;
}

/** Lists scripts. A path in use is not archived, though its earlier versions are. */
async function readList(client: ServiceClient, options: ListOptions) {
  const workspace = await resolveWorkspace(client, options.workspace);
  const read = (show_archived: boolean) =>
    client.call(listScripts, {
      workspace,
      query: { path_start: options.prefix, include_without_main: true, show_archived },
    });
  const live = await read(false);
  if (!options.archived) return live;
  const used = new Set(live.map(({ path }) => path));
  return (await read(true)).filter(({ path }) => !used.has(path));
}

const list = createWorkspaceCommand("list", "list scripts")
  .option("--prefix <path>", "only paths that begin with this")
  .option("--archived", "list the archived ones instead")
  .addHelpText("after", formatExamples("svc script list --workspace acme"))
  .action(async (options: ListOptions) => {
    const found = await withClient(options, (client) => readList(client, options));
    if (options.json) return printJson(found);
    await printTable(
      found,
      [
        { title: "PATH", value: (row) => row.path },
        { title: "LANGUAGE", value: (row) => row.language },
        { title: "HASH", value: (row) => row.hash },
        { title: "SUMMARY", value: formatSummary },
      ],
      options.archived ? "no archived scripts" : "no scripts; svc script push <file> u/<user>/<name>",
    );
  });

const show = createWorkspaceCommand("show", "print the source of a script")
  .argument("<path>")
  .addHelpText("after", formatExamples("svc script show u/ann/hello --workspace acme"))
  .action(async (path: string, options: WorkspaceOptions) => {
    const { found, importers } = await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      const found = await client.call(getScriptByPath, { workspace, path });
      return {
        found,
        importers: await client.call(getDependents, { workspace, imported_path: path }),
      };
    });
    if (options.json) printJson({ ...found, importers });
    else {
      printNote(`${found.path}  ${found.language}  ${found.hash}`);
      if (found.imports) printNote(`imports ${found.imports.map((each) => each.path).join(", ")}`);
      if (importers.length > 0)
        printNote(`imported by ${importers.map((each) => each.importer_path).join(", ")}`);
      writeText(process.stdout, found.content.endsWith("\n") ? found.content : `${found.content}\n`);
    }
  });

const client = createCommand(
  "client",
  "write the Python module wmill into a folder, so that an editor knows it",
  "nothing",
)
  .argument("[folder]", "the folder to write to", ".")
  .addHelpText("after", formatExamples("svc script client .", "svc script client ~/project"))
  .action(async (folder: string, { json }: { json?: boolean }) => {
    const file = join(folder, "wmill.py");
    await Bun.write(file, pythonClient);
    if (json) printJson({ file });
    else printNote(`wrote ${file}: scripts have this module when they run`);
  });

export default createNoun(
  "script",
  "write, deploy, run, list, rename and delete scripts",
  createNew,
  push,
  createRunCommand("script"),
  list,
  show,
  ...scriptVersionCommands,
  client,
).addHelpText("after", formatExamples("svc script new hello.ts", "svc script push hello.ts u/ann/hello"));
