import {
  createResourceType,
  deleteResourceType,
  getResourceType,
  listResourceTypes,
  updateResourceType,
} from "../../client/operations/assets.ts";
import {
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { printWarnings } from "../../program/values.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, printTable } from "../../terminal/text/output.ts";

const list = createWorkspaceCommand("list", "list the resource types that the workspace sees")
  .addHelpText("after", formatExamples("svc resource-type list --workspace acme"))
  .action(async (options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(listResourceTypes, { workspace: await resolveWorkspace(client, options.workspace) }),
    );
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "NAME", value: (row) => row.name },
      { title: "FROM", value: (row) => (row.created_by === "svc" ? "svc" : row.workspace_id) },
      { title: "SUMMARY", value: (row) => row.description },
    ]);
  });

const get = createWorkspaceCommand("show", "print the JSON Schema of a resource type")
  .argument("<name>", "such as postgresql")
  .addHelpText("after", formatExamples("svc resource-type show postgresql --workspace acme"))
  .action(async (name: string, options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(getResourceType, { workspace: await resolveWorkspace(client, options.workspace), name }),
    );
    if (options.json) printJson(found);
    else print(JSON.stringify(found.schema, undefined, 2));
  });

const push = createWorkspaceCommand(
  "push",
  "create or change a resource type from a file with its JSON Schema",
)
  .argument("<name>", "such as shop_api")
  .argument("<file>", "JSON or YAML; - reads stdin")
  .option("--summary <text>", "what it describes")
  .addHelpText(
    "after",
    formatExamples("svc resource-type push shop_api shop_api.schema.yaml --workspace acme"),
  )
  .action(async (name: string, file: string, options: WorkspaceOptions & { summary?: string }) => {
    const body = { schema: await readSchema(file), description: options.summary };
    const [created, confirmation] = await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      const own = (await client.call(listResourceTypes, { workspace })).some((type) => type.name === name);
      return own
        ? ([false, await client.call(updateResourceType, { workspace, name, body })] as const)
        : ([true, await client.call(createResourceType, { workspace, body: { ...body, name } })] as const);
    });
    printWarnings(confirmation);
    if (options.json) printJson({ name, created });
    else printNote(`${created ? "created" : "changed"} ${name}`);
  });

/** Reads a JSON Schema from a file. @throws a usage error if the file cannot be read, or contains no object */
async function readSchema(file: string): Promise<object> {
  const { parse } = await import("yaml");
  let schema: unknown;
  try {
    schema = parse(file === "-" ? await Bun.stdin.text() : await Bun.file(file).text());
  } catch (cause) {
    throw createUsageError(`${file} cannot be read: ${(cause as Error).message}`);
  }
  if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema;
  throw createUsageError(`${file} holds no JSON Schema: it must be an object`);
}

const remove = createWorkspaceCommand(
  "delete",
  "delete a resource type of the workspace; resources of it stay",
)
  .argument("<name>")
  .addHelpText("after", formatExamples("svc resource-type delete shop_api --workspace acme"))
  .action(async (name: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) =>
      client.call(deleteResourceType, { workspace: await resolveWorkspace(client, options.workspace), name }),
    );
    if (options.json) printJson({ deleted: name });
    else printNote(`deleted ${name}`);
  });

export default createNoun(
  "resource-type",
  "manage the types of resources",
  list,
  get,
  push,
  remove,
).addHelpText("after", formatExamples("svc resource-type list", "svc resource-type show postgresql"));
