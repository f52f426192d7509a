/** Commands that scripts and flows share: versions, moving, archiving and deleting. */
import {
  deleteFlowByPath,
  getFlowByPath,
  getFlowHistory,
  updateFlow,
} from "../../../src/features/code/flows/operations.ts";
import type { NewFlow } from "../../../src/features/code/flows/records.ts";
import {
  archiveScriptByPath,
  createScript,
  getScriptByPath,
} from "../../../src/features/code/scripts/operations.ts";
import type { NewScript } from "../../../src/features/code/scripts/records.ts";
import {
  deleteScriptByPath,
  getScriptHistory,
} from "../../../src/features/code/scripts/version-operations.ts";
import type { ServiceClient } from "../../client/transport.ts";
import {
  createWorkspaceCommand,
  describeServer,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { createUpdateBody } from "../../program/records.ts";
import { confirmFirst } from "../../terminal/prompts.ts";
import { printJson, printNote, printTable } from "../../terminal/text/output.ts";

interface Place {
  workspace: string;
  path: string;
}

interface Version {
  version: string;
  message: string;
  created_at: string;
}

interface CodeKind {
  noun: "script" | "flow";
  renames: string;
  listVersions: (client: ServiceClient, place: Place) => Promise<Version[]>;
  move: (client: ServiceClient, place: Place, to: string) => Promise<void>;
  remove: (client: ServiceClient, place: Place) => Promise<unknown>;
}

const SCRIPTS: CodeKind = {
  noun: "script",
  renames: "deploy a script at another path, and archive it at this one",
  async listVersions(client, place) {
    const found = await client.call(getScriptHistory, place);
    return found.map(({ script_hash, deployment_msg, created_at }) => ({
      version: script_hash,
      message: deployment_msg ?? "",
      created_at: String(created_at),
    }));
  },
  async move(client, place, to) {
    const stored = await client.call(getScriptByPath, place);
    const body = createUpdateBody(stored, { path: to }) as NewScript;
    await client.call(createScript, { workspace: place.workspace, body });
    await client.call(archiveScriptByPath, place);
  },
  remove: (client, place) => client.call(deleteScriptByPath, place),
};

const FLOWS: CodeKind = {
  noun: "flow",
  renames: "give a flow another path; its history goes along",
  async listVersions(client, place) {
    const found = await client.call(getFlowHistory, place);
    return found.map(({ id, deployment_msg, created_at }) => ({
      version: String(id),
      message: deployment_msg ?? "",
      created_at: String(created_at),
    }));
  },
  async move(client, place, to) {
    const body = createUpdateBody(await client.call(getFlowByPath, place), { path: to });
    await client.call(updateFlow, { ...place, body: body as NewFlow });
  },
  remove: (client, place) => client.call(deleteFlowByPath, place),
};

function createVersionCommands({ noun, renames, listVersions, move, remove }: CodeKind) {
  const history = createWorkspaceCommand("history", `list the versions of a ${noun}, newest first`)
    .argument("<path>")
    .addHelpText("after", formatExamples(`svc ${noun} history u/ann/hello`))
    .action(async (path: string, options: WorkspaceOptions) => {
      const found = await withClient(options, async (client) =>
        listVersions(client, { workspace: await resolveWorkspace(client, options.workspace), path }),
      );
      if (options.json) return printJson(found);
      await printTable(found, [
        { title: "VERSION", value: (row) => row.version, cut: "never" },
        { title: "DEPLOYED", value: (row) => row.created_at, cut: "never" },
        { title: "MESSAGE", value: (row) => row.message },
      ]);
    });

  const rename = createWorkspaceCommand("rename", renames)
    .argument("<path>")
    .argument("<new-path>")
    .addHelpText("after", formatExamples(`svc ${noun} rename u/ann/hello f/shop/hello`))
    .action(async (path: string, to: string, options: WorkspaceOptions) => {
      await withClient(
        options,
        async (client) => {
          const workspace = await resolveWorkspace(client, options.workspace);
          await move(client, { workspace, path }, to);
        },
        "own",
      );
      if (options.json) printJson({ path: to });
      else printNote(`${path} is ${to} now; webhooks call it by that path`);
    });

  const drop = createWorkspaceCommand("delete", `delete a ${noun} with all its versions, for good`)
    .argument("<path>")
    .option("--yes", "do not ask")
    .addHelpText("after", formatExamples(`svc ${noun} delete u/ann/hello --yes`))
    .action(async (path: string, options: WorkspaceOptions & { yes?: boolean }) => {
      const question = `Delete ${noun} ${path} ${describeServer(options)} with all its versions, for good?`;
      await confirmFirst(options.yes, question);
      await withClient(options, async (client) =>
        remove(client, { workspace: await resolveWorkspace(client, options.workspace), path }),
      );
      if (options.json) printJson({ path, deleted: true });
      else printNote(`deleted ${path}`);
    });
  return [history, rename, drop];
}

export const scriptVersionCommands = createVersionCommands(SCRIPTS);
export const flowVersionCommands = createVersionCommands(FLOWS);
