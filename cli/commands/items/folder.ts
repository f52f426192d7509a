import {
  addAcl,
  addFolderOwner,
  createFolder,
  deleteFolder,
  getFolder,
  listFolders,
  removeAcl,
  removeFolderOwner,
} from "../../client/operations/accounts.ts";
import {
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { askFor } from "../../terminal/prompts.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, printTable } from "../../terminal/text/output.ts";

const OWNER = "u/<username> or g/<group>";
const collect = (value: string, before: string[] = []) => [...before, value];

/** Formats the grants other than the owners': `u/ann, g/ops (write), u/bob (read)`. */
function formatGrants({
  owners,
  extra_perms,
}: {
  owners: string[];
  extra_perms: Record<string, boolean>;
}): string {
  return Object.entries(extra_perms)
    .filter(([name]) => !owners.includes(name))
    .map(([name, write]) => `${name} (${write ? "write" : "read"})`)
    .join(", ");
}

const list = createWorkspaceCommand("list", "list the folders you may read in")
  .addHelpText("after", formatExamples("svc folder list --workspace acme"))
  .action(async (options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(listFolders, { workspace: await resolveWorkspace(client, options.workspace) }),
    );
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "NAME", value: (row) => row.name, cut: "never" },
      { title: "OWNERS", value: (row) => row.owners.join(", ") },
      { title: "OTHERS", value: formatGrants },
      { title: "SUMMARY", value: (row) => row.summary },
    ]);
  });

interface CreateOptions extends WorkspaceOptions {
  summary?: string;
  owner?: string[];
}

const create = createWorkspaceCommand("create", "create a folder that you own")
  .argument("[name]", "letters, digits, _ and -; asked for when left out")
  .option("--summary <text>", "what it is for")
  .option("--owner <name>", `who else owns it: ${OWNER}; may be repeated`, collect)
  .addHelpText("after", formatExamples("svc folder create data --workspace acme --owner g/engineers"))
  .action(async (given: string | undefined, options: CreateOptions) => {
    const name = await askFor(given, { message: "Name of the folder", flag: "<name>" });
    const body = { name, summary: options.summary, owners: options.owner };
    await withClient(options, async (client) =>
      client.call(createFolder, { workspace: await resolveWorkspace(client, options.workspace), body }),
    );
    if (options.json) printJson({ name, created: true });
    else printNote(`created folder ${name}: what is in it has paths such as f/${name}/…`);
  });

const get = createWorkspaceCommand("show", "show who may do what in a folder")
  .argument("<name>")
  .addHelpText("after", formatExamples("svc folder show data --workspace acme --json"))
  .action(async (name: string, options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(getFolder, { workspace: await resolveWorkspace(client, options.workspace), name }),
    );
    if (options.json) return printJson(found);
    if (found.summary) print(found.summary);
    const rights = Object.entries(found.extra_perms);
    await printTable(
      rights.map(([who, write]) => ({ who, right: formatRight(found.owners, who, write) })),
      [
        { title: "WHO", value: (row) => row.who, cut: "never" },
        { title: "RIGHT", value: (row) => row.right },
      ],
    );
  });

function formatRight(owners: readonly string[], who: string, write: boolean): string {
  return owners.includes(who) ? "owner" : write ? "write" : "read";
}

const addOwner = createWorkspaceCommand("add-owner", "make a user or group an owner")
  .argument("<name>", "the folder")
  .argument("<owner>", OWNER)
  .addHelpText("after", formatExamples("svc folder add-owner data g/engineers --workspace acme"))
  .action(async (name: string, owner: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      await client.call(addFolderOwner, { workspace, name, body: { owner } });
    });
    if (options.json) printJson({ name, owner, owns: true });
    else printNote(`${owner} owns folder ${name}`);
  });

const removeOwner = createWorkspaceCommand("remove-owner", "remove an owner of a folder")
  .argument("<name>", "the folder")
  .argument("<owner>", OWNER)
  .option("--keep <right>", "the right they keep: read or write (default: none)")
  .addHelpText("after", formatExamples("svc folder remove-owner data u/ann --keep read --workspace acme"))
  .action(async (name: string, owner: string, options: WorkspaceOptions & { keep?: string }) => {
    const write = options.keep === undefined ? undefined : parseRight("--keep", options.keep);
    await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      await client.call(removeFolderOwner, { workspace, name, body: { owner, write } });
    });
    if (options.json) printJson({ name, owner, owns: false });
    else printNote(`${owner} no longer owns folder ${name}`);
  });

/**
 * Parses a right: `read`, `write` or `none`.
 * @returns whether the right includes writing; undefined for `none`
 * @throws a usage error for an invalid right
 */
function parseRight(flag: string, right: string): boolean | undefined {
  if (right === "none") return undefined;
  if (right !== "read" && right !== "write")
    throw createUsageError(`${flag} ${right}: must be read, write or none`);
  return right === "write";
}

const setPerm = createWorkspaceCommand("set-perm", "set what somebody may do in a folder")
  .argument("<name>", "the folder")
  .argument("<who>", OWNER)
  .argument("<right>", "read, write or none")
  .addHelpText(
    "after",
    formatExamples(
      "svc folder set-perm data g/all read --workspace acme",
      "svc folder set-perm data u/bob none --workspace acme",
    ),
  )
  .action(async (name: string, who: string, right: string, options: WorkspaceOptions) => {
    const write = parseRight("<right>", right);
    await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      const place = { workspace, kind: "folder", path: name };
      if (write === undefined) await client.call(removeAcl, { ...place, body: { owner: who } });
      else await client.call(addAcl, { ...place, body: { owner: who, write } });
    });
    if (options.json) printJson({ name, who, right });
    else
      printNote(
        right === "none" ? `${who} has no right in folder ${name}` : `${who} may ${right} in folder ${name}`,
      );
  });

const remove = createWorkspaceCommand("delete", "delete a folder, not what is in it")
  .argument("<name>", "the folder")
  .addHelpText("after", formatExamples("svc folder delete data --workspace acme"))
  .action(async (name: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) =>
      client.call(deleteFolder, { workspace: await resolveWorkspace(client, options.workspace), name }),
    );
    if (options.json) printJson({ name, deleted: true });
    else printNote(`deleted folder ${name}`);
  });

export default createNoun(
  "folder",
  "manage folders, and who may read and write in them",
  list,
  create,
  get,
  addOwner,
  removeOwner,
  setPerm,
  remove,
).addHelpText(
  "after",
  formatExamples("svc folder create data --owner g/engineers", "svc folder set-perm data g/all read"),
);
