import {
  createResource,
  deleteResource,
  existsResource,
  getResource,
  listResources,
  updateResource,
} from "../../client/operations/assets.ts";
import { getResourceValueInterpolated } from "../../client/operations/runs.ts";
import {
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { readAllPages } from "../../program/pages.ts";
import { printWarnings, readJson } from "../../program/values.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, printTable } from "../../terminal/text/output.ts";

interface SetOptions extends WorkspaceOptions {
  type?: string;
  summary?: string;
}

const set = createWorkspaceCommand("set", "create a resource, or replace its value")
  .argument("<path>", "such as f/shop/db")
  .argument("[value]", "JSON; - reads it from stdin; asked for when left out")
  .option("--type <name>", "its resource type, such as postgresql; needed for a new one")
  .option("--summary <text>", "what it is for")
  .addHelpText(
    "after",
    `${formatExamples(
      "svc resource set f/shop/db - --type postgresql --workspace acme < db.json",
      `svc resource set u/ann/api '{"url":"https://api.example.org"}' --type any`,
    )}

Do not put a secret in the value: let the field refer to a variable, as in
{"password": "$var:f/shop/db_password"}.`,
  )
  .action(async (path: string, given: string | undefined, options: SetOptions) => {
    const value = await readJson(given, { message: `Value of ${path} (JSON)`, secret: true });
    const { type, summary: description } = options;
    const [created, confirmation] = await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      if (await client.call(existsResource, { workspace, path })) {
        const body = { value, resource_type: type, description };
        return [false, await client.call(updateResource, { workspace, path, body })] as const;
      }
      if (type === undefined) {
        throw createUsageError(
          "--type is missing",
          `${path} is new; svc resource-type list shows the types there are`,
        );
      }
      const body = { path, value, resource_type: type, description: description ?? "" };
      return [true, await client.call(createResource, { workspace, body })] as const;
    });
    printWarnings(confirmation);
    if (options.json) printJson({ path, created });
    else printNote(`${created ? "created" : "changed"} ${path}`);
  });

const get = createWorkspaceCommand("show", "print the value of a resource, as JSON")
  .argument("<path>")
  .option("--resolved", "with the variables and resources it refers to filled in")
  .addHelpText("after", formatExamples("svc resource show f/shop/db --workspace acme"))
  .action(async (path: string, options: WorkspaceOptions & { resolved?: boolean }) => {
    const found = await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      if (!options.resolved) return client.call(getResource, { workspace, path });
      return { value: await client.call(getResourceValueInterpolated, { workspace, path, query: {} }) };
    });
    if (options.json && !options.resolved) printJson(found);
    else print(JSON.stringify(found.value, undefined, 2));
  });

const list = createWorkspaceCommand("list", "list resources")
  .option("--type <names>", "only these types, separated by commas")
  .option("--prefix <path>", "only paths that begin with this")
  .addHelpText("after", formatExamples("svc resource list --type postgresql,mysql --workspace acme"))
  .action(async (options: WorkspaceOptions & { type?: string; prefix?: string }) => {
    const found = await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      const query = { resource_type: options.type, path_start: options.prefix };
      return readAllPages((paging) =>
        client.call(listResources, { workspace, query: { ...query, ...paging } }),
      );
    });
    if (options.json) return printJson(found);
    await printTable(
      found,
      [
        { title: "PATH", value: (row) => row.path },
        { title: "TYPE", value: (row) => row.resource_type },
        { title: "SUMMARY", value: (row) => row.description },
      ],
      "no resources; svc resource set --help",
    );
  });

const remove = createWorkspaceCommand("delete", "delete resources")
  .argument("<path...>")
  .addHelpText("after", formatExamples("svc resource delete f/shop/old_db --workspace acme"))
  .action(async (paths: string[], options: WorkspaceOptions) => {
    await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      for (const path of paths) {
        await client.call(deleteResource, { workspace, path });
        if (!options.json) printNote(`deleted ${path}`);
      }
    });
    if (options.json) printJson({ deleted: paths });
  });

export default createNoun("resource", "read and write resources", set, get, list, remove).addHelpText(
  "after",
  formatExamples(
    'svc resource set u/ann/api \'{"url":"https://api.example.org"}\' --type any',
    "svc resource list --type postgresql",
  ),
);
