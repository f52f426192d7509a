/** Commands that scripts and flows share: versions, moving, archiving and deleting. */

import type { NewFlow } from "../../../src/features/code/flows/records.ts";
import type { NewScript } from "../../../src/features/code/scripts/records.ts";
import {
  archiveFlowByPath,
  archiveScriptByPath,
  createScript,
  deleteFlowByPath,
  deleteScriptByPath,
  getFlowByPath,
  getFlowHistory,
  getScriptByPath,
  getScriptHistory,
  updateFlow,
} from "../../client/operations/code.ts";
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
  archive: (client: ServiceClient, place: Place) => Promise<unknown>;
  unarchive: (client: ServiceClient, place: Place) => Promise<unknown>;
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
    await deployAgain(client, place, to);
    await client.call(archiveScriptByPath, place);
  },
  archive: (client, place) => client.call(archiveScriptByPath, place),
  async unarchive(client, place) {
    const { archived } = await client.call(getScriptByPath, place);
    if (archived) await deployAgain(client, place, place.path);
  },
  remove: (client, place) => client.call(deleteScriptByPath, place),
};

/** Deploys the newest version of a script, archived or not, as the first one of a path that has none in use. */
async function deployAgain(client: ServiceClient, place: Place, path: string): Promise<void> {
  const stored = await client.call(getScriptByPath, place);
  const body = createUpdateBody(stored, { path }) as NewScript;
  await client.call(createScript, { workspace: place.workspace, body });
}

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
  archive: (client, place) => client.call(archiveFlowByPath, { ...place, body: { archived: true } }),
  unarchive: (client, place) => client.call(archiveFlowByPath, { ...place, body: { archived: false } }),
  remove: (client, place) => client.call(deleteFlowByPath, place),
};

function createVersionCommands(kind: CodeKind) {
  const { noun, renames, listVersions, move, remove } = kind;
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
  return [history, rename, ...createArchiveCommands(kind), drop];
}

function createArchiveCommands({ noun, archive, unarchive }: CodeKind) {
  const putAway = createWorkspaceCommand("archive", `archive a ${noun}: it cannot be run any more`)
    .argument("<path>")
    .addHelpText("after", formatExamples(`svc ${noun} archive u/ann/hello`))
    .action(async (path: string, options: WorkspaceOptions) => {
      await withClient(options, async (client) =>
        archive(client, { workspace: await resolveWorkspace(client, options.workspace), path }),
      );
      if (options.json) printJson({ path, archived: true });
      else printNote(`archived ${path}; svc ${noun} unarchive ${path} brings it back`);
    });

  const bringBack = createWorkspaceCommand("unarchive", `bring an archived ${noun} back`)
    .argument("<path>")
    .addHelpText("after", formatExamples(`svc ${noun} unarchive u/ann/hello`))
    .action(async (path: string, options: WorkspaceOptions) => {
      await withClient(
        options,
        async (client) =>
          unarchive(client, { workspace: await resolveWorkspace(client, options.workspace), path }),
        "own",
      );
      if (options.json) printJson({ path, archived: false });
      else printNote(`unarchived ${path}`);
    });
  return [putAway, bringBack];
}

export const scriptVersionCommands = createVersionCommands(SCRIPTS);
export const flowVersionCommands = createVersionCommands(FLOWS);
