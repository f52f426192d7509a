import type { Command } from "commander";
import {
  exportAllAuditLogs,
  exportAuditLogs,
  listAllAuditLogs,
  listAuditLogs,
} from "../../client/operations/signals.ts";
import {
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { parsePastTime, parseWholeNumber } from "../../program/options.ts";
import { printJson, printTable, writeBytes } from "../../terminal/text/output.ts";
import { formatDistance } from "../../terminal/text/times.ts";

interface FilterOptions extends WorkspaceOptions {
  since?: string;
  before?: string;
  by?: string;
  operation?: string;
  operations?: string;
  exclude?: string;
  prefix?: string;
  kind?: string;
  all?: boolean;
}

function filtered(command: Command): Command {
  return command
    .option("--since <time>", "only rows after this time: 2h (ago), or a date")
    .option("--before <time>", "only rows up to this time: 2h (ago), or a date")
    .option("--by <username>", "only what this user did")
    .option("--operation <name>", "only operations that begin with this, such as variables.")
    .option("--operations <names>", "only these, separated by commas")
    .option("--exclude <names>", "all but these, separated by commas")
    .option("--prefix <path>", "only what was done to paths that begin with this, such as u/ann/")
    .option("--kind <kind>", "only Create, Update, Delete or Execute")
    .option("--all", "rows of all workspaces and of the instance (super admins)");
}

function queryOf(options: FilterOptions) {
  const { since, before } = options;
  return {
    after: since === undefined ? undefined : parsePastTime("--since", since),
    before: before === undefined ? undefined : parsePastTime("--before", before),
    username: options.by,
    operation: options.operation,
    operations: options.operations,
    exclude_operations: options.exclude,
    resource: options.prefix,
    action_kind: options.kind as "Create" | undefined,
  };
}

const list = filtered(createWorkspaceCommand("list", "list audit rows, newest first"))
  .option("--limit <number>", "maximum number of rows", "50")
  .option("--page <number>", "page number, from 1", "1")
  .addHelpText(
    "after",
    formatExamples(
      "svc audit list --workspace acme --since 24h",
      "svc audit list --workspace acme --operation variables.decrypt_secret",
    ),
  )
  .action(async (options: FilterOptions & { limit: string; page: string }) => {
    const per_page = parseWholeNumber("--limit", options.limit, 10_000, 1);
    const page = parseWholeNumber("--page", options.page, 1_000_000, 1);
    const query = { ...queryOf(options), page, per_page };
    const found = await withClient(options, async (client) => {
      if (options.all) return client.call(listAllAuditLogs, { query });
      return client.call(listAuditLogs, {
        workspace: await resolveWorkspace(client, options.workspace),
        query,
      });
    });
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "WHEN", value: (row) => formatDistance(row.timestamp), cut: "never" },
      ...(options.all ? [{ title: "WORKSPACE", value: (row: Row) => row.workspace_id }] : []),
      { title: "WHO", value: (row) => row.username },
      { title: "OPERATION", value: (row) => row.operation },
      { title: "RESOURCE", value: (row) => row.resource ?? "", cut: "start" },
    ]);
  });

type Row = { workspace_id: string };

const exportRows = filtered(createWorkspaceCommand("export", "print audit rows as JSON lines, oldest first"))
  .addHelpText(
    "after",
    formatExamples(
      "svc audit export --workspace acme --since 30d > audit.jsonl",
      "svc audit export --all | jq .operation",
    ),
  )
  .action(async (options: FilterOptions) => {
    await withClient(options, async (client) => {
      const query = queryOf(options);
      const response = options.all
        ? await client.open(exportAllAuditLogs, { query })
        : await client.open(exportAuditLogs, {
            workspace: await resolveWorkspace(client, options.workspace),
            query,
          });
      if (response.body) await writeBytes(process.stdout, response.body);
    });
  });

export default createNoun("audit", "read and export who did what", list, exportRows).addHelpText(
  "after",
  formatExamples("svc audit list --since 24h", "svc audit export --since 30d > audit.jsonl"),
);
