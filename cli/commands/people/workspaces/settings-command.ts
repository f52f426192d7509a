import { SETTING_NAMES } from "../../../client/setting-names.ts";
import {
  type CommonOptions,
  createCommand,
  createNoun,
  formatExamples,
  withClient,
} from "../../../program/command.ts";
import { createUsageError } from "../../../terminal/text/failure.ts";
import { printJson, printNote, printTable } from "../../../terminal/text/output.ts";

/** Loads the workspace settings when a command runs: they import the operations of many features. */
const loadSettings = () => import("../../../client/workspace-settings.ts");

const get = createCommand("show", "print the settings of a workspace, or one of them")
  .argument("<id>", "the workspace")
  .argument("[key]", "only this setting")
  .addHelpText(
    "after",
    formatExamples("svc workspace settings show acme", "svc workspace settings show acme webhook"),
  )
  .action(async (id: string, key: string | undefined, options: CommonOptions) => {
    const { readWorkspaceSettings } = await loadSettings();
    const all: Record<string, unknown> = await withClient(options, (client) =>
      readWorkspaceSettings(client, id),
    );
    if (key !== undefined && !Object.hasOwn(all, key)) {
      throw createUsageError(`${key} is not a setting`, `use one of ${Object.keys(all).join(", ")}`);
    }
    if (options.json) return printJson(key === undefined ? all : all[key]);
    const shown = Object.entries(all).filter(([name]) =>
      key === undefined ? name !== "workspace_id" : name === key,
    );
    await printTable(shown, [
      { title: "KEY", value: ([name]) => name, cut: "never" },
      { title: "VALUE", value: ([, value]) => shownValue(value) },
    ]);
  });

function shownValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const set = createCommand("set", "change a setting of a workspace")
  .argument("<id>", "the workspace")
  .argument("<key>", SETTING_NAMES.join(", "))
  .argument("<value>", "text, true or false, or JSON; '' removes the setting, - reads it from stdin")
  .addHelpText(
    "after",
    formatExamples(
      "svc workspace settings set acme error_handler script/f/ops/alert",
      'svc workspace settings set acme deploy_ui \'{"include_path":["f/**"]}\'',
      "svc workspace settings set acme env.REGION eu-1",
    ),
  )
  .action(async (id: string, key: string, value: string, options: CommonOptions) => {
    const given = value === "-" ? (await Bun.stdin.text()).replace(/\r?\n$/, "") : value;
    const { changeSetting } = await loadSettings();
    const answer = await withClient(options, (client) => changeSetting(client, id, key, given));
    if (options.json) printJson({ workspace_id: id, key, answer });
    else printNote(answer);
  });

export default createNoun("settings", "read and change settings", get, set).addHelpText(
  "after",
  formatExamples("svc workspace settings show acme", "svc workspace settings set acme env.REGION eu-1"),
);
