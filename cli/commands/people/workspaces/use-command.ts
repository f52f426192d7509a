import { readDefaultWorkspace, writeDefaultWorkspace } from "../../../client/default-workspace.ts";
import { listWorkspaces } from "../../../client/operations/lifecycle.ts";
import { type CommonOptions, createCommand, formatExamples, withClient } from "../../../program/command.ts";
import { CliError } from "../../../terminal/text/failure.ts";
import { print, printJson, printNote } from "../../../terminal/text/output.ts";

/** `svc workspace use`: sets the default workspace of later commands on the same server. */
export const useCommand = createCommand("use", "choose the workspace of later commands")
  .argument("[id]", "its id; prints the chosen one when left out")
  .option("--none", "choose none")
  .addHelpText("after", formatExamples("svc workspace use acme", "svc workspace use --none"))
  .action(async (id: string | undefined, options: CommonOptions & { none?: boolean }) => {
    const { where, known } = await withClient(options, async (client) => ({
      where: client.where,
      known: (await client.call(listWorkspaces, {})).map((each) => each.id),
    }));
    if (id !== undefined && !known.includes(id)) {
      throw new CliError("NotFound", `there is no workspace ${id} for you on ${where}`, {
        hint: known.length > 0 ? `there are ${known.join(", ")}` : "svc workspace create",
      });
    }
    if (id !== undefined || options.none) writeDefaultWorkspace(where, id);
    const chosen = readDefaultWorkspace(where) ?? null;
    if (options.json) return printJson({ workspace: chosen, server: where });
    if (id !== undefined) printNote(`commands on ${where} use workspace ${id}`);
    else if (chosen !== null) print(chosen);
    else printNote(`no workspace is chosen on ${where}`);
  });
