import { join } from "node:path";
import { Option } from "commander";
import pythonClient from "../../../src/engines/runner/child/python-path/wmill.py" with { type: "text" };
import { getDependents } from "../../../src/features/code/scripts/imports/importer-operations.ts";
import {
  archiveScriptByPath,
  createScript,
  getScriptByPath,
  getScriptDeploymentStatus,
  listScripts,
} from "../../../src/features/code/scripts/operations.ts";
import { ScriptFields } from "../../../src/features/code/scripts/records.ts";
import type { Client } from "../../client/transport.ts";
import { languageOf } from "../../jobs/file-language.ts";
import { readSource } from "../../program/arguments.ts";
import {
  examples,
  inWorkspace,
  leaf,
  noun,
  type WorkspaceOptions,
  withClient,
  workspaceFor,
} from "../../program/command.ts";
import { wholeNumber } from "../../program/options.ts";
import { withProgress } from "../../terminal/progress.ts";
import { CliError, usageError } from "../../terminal/text/failure.ts";
import { note, print, printJson, printTable, write } from "../../terminal/text/output.ts";

/** What a version says beside its code and what is read out of that: the next one goes on with it. */
const Settings = ScriptFields.omit({
  content: true,
  language: true,
  schema: true,
  lock: true,
  no_main_func: true,
  has_preprocessor: true,
  parent_hash: true,
  deployment_message: true,
});

interface PushOptions extends WorkspaceOptions {
  path?: string;
  summary?: string;
  message?: string;
  isolation?: "shared" | "fresh";
  memory?: string;
  wait: boolean;
}

const push = inWorkspace("push", "deploy a file as a new version of a script")
  .argument("<file>", "a .ts, .js, .sh, .py, .pg.sql, .my.sql, .sqlite.sql or .gql file")
  .argument("[path]", "such as u/ann/hello or f/shop/order")
  .option("--path <path>", "the path, as an option instead of an argument")
  .option("--summary <text>", "one line that says what it does")
  .option("--message <text>", "what changed, for the history")
  .addOption(
    new Option("--isolation <kind>", "fresh: a new process for each run; else as before").choices([
      "shared",
      "fresh",
    ]),
  )
  .option("--memory <MB>", "most memory a run may take; else as before")
  .option("--no-wait", "do not wait for its dependencies")
  .addHelpText("after", examples("svc script push hello.ts u/ann/hello --workspace acme"))
  .action(async (file: string, argument: string | undefined, options: PushOptions) => {
    const path = onePath(argument, options.path);
    const memory_mb = options.memory === undefined ? undefined : wholeNumber("--memory", options.memory);
    const language = languageOf(file);
    const content = await readSource(file);
    const hash = await withClient(
      options,
      async (client) => {
        const workspace = await workspaceFor(client, options.workspace);
        const before = await client.call(getScriptByPath, { workspace, path }).catch((cause: CliError) => {
          if (cause.name === "NotFound") return undefined;
          throw cause;
        });
        const kept = before && Settings.parse(before);
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
          },
        });
        if (options.wait)
          await withProgress("resolving dependencies", () => waitReady(client, workspace, deployed));
        return deployed;
      },
      "own",
    );
    if (options.json) printJson({ path, hash });
    else print(hash);
  });

/** The path, which may be given as an argument or as an option. @throws a usage error */
function onePath(argument: string | undefined, option: string | undefined): string {
  if (argument !== undefined && option !== undefined && argument !== option) {
    throw usageError(`two paths were given: ${argument} and --path ${option}`, "leave one of them out");
  }
  const path = argument ?? option;
  if (path === undefined) throw usageError("the path is missing", "svc script push <file> u/<user>/<name>");
  return path;
}

const POLL_MS = 100;

async function waitReady(client: Client, workspace: string, hash: string): Promise<void> {
  for (;;) {
    const { lock, lock_error_logs } = await client.call(getScriptDeploymentStatus, { workspace, hash });
    if (lock !== undefined) return;
    if (lock_error_logs !== undefined) {
      throw new CliError("DependencyError", `version ${hash} is stored but cannot run: ${lock_error_logs}`, {
        hint: "fix the import and push again; the previous version stays in use",
      });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const list = inWorkspace("list", "list scripts")
  .option("--prefix <path>", "only paths that begin with this")
  .addHelpText("after", examples("svc script list --workspace acme"))
  .action(async (options: WorkspaceOptions & { prefix?: string }) => {
    const found = await withClient(options, async (client) =>
      client.call(listScripts, {
        workspace: await workspaceFor(client, options.workspace),
        query: { path_start: options.prefix },
      }),
    );
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "PATH", value: (row) => row.path },
      { title: "LANGUAGE", value: (row) => row.language },
      { title: "HASH", value: (row) => row.hash },
      { title: "SUMMARY", value: (row) => row.summary },
    ]);
  });

const show = inWorkspace("show", "print the source of a script")
  .argument("<path>")
  .addHelpText("after", examples("svc script show u/ann/hello --workspace acme"))
  .action(async (path: string, options: WorkspaceOptions) => {
    const { found, importers } = await withClient(options, async (client) => {
      const workspace = await workspaceFor(client, options.workspace);
      const found = await client.call(getScriptByPath, { workspace, path });
      return {
        found,
        importers: await client.call(getDependents, { workspace, imported_path: path }),
      };
    });
    if (options.json) printJson({ ...found, importers });
    else {
      note(`${found.path}  ${found.language}  ${found.hash}`);
      if (found.imports) note(`imports ${found.imports.map((each) => each.path).join(", ")}`);
      if (importers.length > 0) note(`imported by ${importers.map((each) => each.importer_path).join(", ")}`);
      write(process.stdout, found.content.endsWith("\n") ? found.content : `${found.content}\n`);
    }
  });

const archive = inWorkspace("archive", "archive a script: it cannot be run any more")
  .argument("<path>")
  .addHelpText("after", examples("svc script archive u/ann/hello"))
  .action(async (path: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) => {
      const workspace = await workspaceFor(client, options.workspace);
      await client.call(archiveScriptByPath, { workspace, path });
    });
    if (options.json) printJson({ path, archived: true });
    else note(`archived ${path}`);
  });

const client = leaf(
  "client",
  "write the Python module wmill into a folder, so that an editor knows it",
  "nothing",
)
  .argument("[folder]", "where; the current one by default", ".")
  .addHelpText("after", examples("svc script client .", "svc script client ~/project"))
  .action(async (folder: string, { json }: { json?: boolean }) => {
    const file = join(folder, "wmill.py");
    await Bun.write(file, pythonClient);
    if (json) printJson({ file });
    else note(`wrote ${file}: scripts have this module when they run`);
  });

export default noun(
  "script",
  "deploy, list and archive scripts",
  push,
  list,
  show,
  archive,
  client,
).addHelpText("after", examples("svc script push hello.ts u/ann/hello", "svc script list"));
