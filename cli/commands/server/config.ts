import chalk from "chalk";
import { describeProcessSettings } from "../../../src/platform/config/describe-process-settings.ts";
import { loadServerConfig, locateDataDirectory } from "../../client/data-directory.ts";
import {
  getGlobalSetting,
  getLocalSettings,
  listGlobalSettings,
  setGlobalSetting,
} from "../../client/operations/instance.ts";
import type { ServiceClient } from "../../client/transport.ts";
import {
  type CommonOptions,
  createCommand,
  createNoun,
  formatExamples,
  withClient,
} from "../../program/command.ts";
import { type CliError, createUsageError } from "../../terminal/text/failure.ts";
import { findNearest } from "../../terminal/text/nearest.ts";
import {
  getTerminalWidth,
  print,
  printJson,
  printNote,
  toOneLine,
  wrapText,
} from "../../terminal/text/output.ts";

interface ShownSetting {
  name: string;
  /** How to change it: only by its environment variable, or also with `svc config set`. */
  of: "process" | "instance";
  value: unknown;
  source: string;
  variable: string | undefined;
  meaning: string | undefined;
}

const listSettings = (options: CommonOptions): Promise<ShownSetting[]> =>
  withClient(options, (client) => readSettings(client, options));

async function readSettings(client: ServiceClient, options: CommonOptions): Promise<ShownSetting[]> {
  // Without a running server, the configuration that a server would start with is shown.
  const process = client.local
    ? describeProcessSettings(loadServerConfig({ data_dir: locateDataDirectory(options.dataDir) }))
    : await client.call(getLocalSettings, {});
  const instance = await client.call(listGlobalSettings, { query: { all: true } });
  return [
    ...Object.entries(process)
      // Settings that the instance can store are listed once, as instance settings.
      .filter(([, { setting }]) => setting === undefined)
      .map(([name, { value, source, variable, meaning }]) => {
        return { name, of: "process" as const, value, source, variable, meaning };
      }),
    ...instance.map(({ name, value, source, variable, meaning }) => {
      return { name, of: "instance" as const, value: value ?? null, source, variable, meaning };
    }),
  ];
}

const list = createCommand(
  "list",
  "list the settings that differ from their defaults, and where from; secrets stay hidden",
)
  .option("--all", "list every setting, with its default")
  .addHelpText("after", formatExamples("svc config", "svc config --all", "svc config list --json"))
  .action(async (options: CommonOptions & { all?: boolean }) => {
    const every = await listSettings(options);
    const settings = options.all ? every : every.filter(isChanged);
    if (options.json) return printJson(settings);
    for (const setting of settings)
      print(process.stdout.isTTY ? formatForPerson(setting) : formatForPipe(setting));
    const others = every.length - settings.length;
    if (process.stdout.isTTY && others > 0) {
      printNote(
        `${settings.length === 0 ? "nothing differs from the defaults; " : ""}svc config --all lists ${others} more`,
      );
    }
  });

function formatForPipe({ name, value, source, variable, meaning }: ShownSetting): string {
  return [name, formatValue(value), source, variable ?? "", meaning ?? ""].map(toOneLine).join("\t");
}

/** Whether a user set it; the server itself generates `uid`. */
function isChanged({ name, source }: ShownSetting): boolean {
  return source !== "default" && name !== "uid";
}

/** Formats a setting in lines, because it is too long for table columns: the value, and its meaning below. */
function formatForPerson({ name, value, source, variable, meaning }: ShownSetting): string {
  const width = getTerminalWidth();
  const from = source === "default" ? "" : ` (${source})`;
  const room = width - name.length - from.length - 2;
  const text = toOneLine(formatValue(value));
  const shown = text.length > room ? `${text.slice(0, Math.max(0, room - 1))}…` : text;
  const below = wrapText(`${meaning ?? ""}${variable === undefined ? "" : ` (${variable})`}`, width - 4);
  return [
    `${chalk.bold(name)}  ${shown}${chalk.yellow(from)}`.trimEnd(),
    ...below.map((line) => `    ${chalk.dim(toOneLine(line))}`),
  ].join("\n");
}

/** Formats a text as it is, anything else as JSON. */
function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function createUnknownSettingError(key: string, settings: readonly ShownSetting[]): CliError {
  const nearest = findNearest(
    key,
    settings.map(({ name }) => name),
  );
  const hint = nearest === undefined ? "svc config --all lists them" : `did you mean ${nearest}?`;
  return createUsageError(`there is no setting ${key}`, hint);
}

/**
 * Rejects a name that looks like a misspelled setting. Other unknown names are accepted: the server keeps them for
 * clients that know them.
 */
async function rejectMisspelled(client: ServiceClient, key: string, options: CommonOptions): Promise<void> {
  const settings = await readSettings(client, options);
  const names = settings.map(({ name }) => name);
  if (names.includes(key) || findNearest(key, names) === undefined) return;
  throw createUnknownSettingError(key, settings);
}

const get = createCommand("get", "print a setting; one of the instance in full, even if it is a secret")
  .argument("<key>", "such as base_url")
  .addHelpText("after", formatExamples("svc config get base_url", "svc config get smtp_settings --json"))
  .action(async (key: string, options: CommonOptions) => {
    const settings = await listSettings(options);
    const found = settings.find(({ name }) => name === key);
    if (!found) throw createUnknownSettingError(key, settings);
    const value =
      found.of === "process" || found.source === "default"
        ? found.value
        : await withClient(options, (client) => client.call(getGlobalSetting, { key }));
    if (options.json) printJson({ ...found, value });
    else print(formatValue(value));
  });

const set = createCommand("set", "change a setting of the instance; takes effect at once")
  .argument("<key>", "such as base_url")
  .argument("<value>", "JSON, or a text as it is; - reads it from stdin; null removes what was set")
  .addHelpText(
    "after",
    formatExamples(
      "svc config set base_url https://svc.example.org",
      "svc config set retention_period_secs 604800",
      "svc config set smtp_settings - < smtp.json",
      "svc config set base_url null",
    ),
  )
  .action(async (key: string, given: string, options: CommonOptions) => {
    const text = given === "-" ? (await Bun.stdin.text()).replace(/\r?\n$/, "") : given;
    const value = parseValue(text);
    const said = await withClient(options, async (client) => {
      await rejectMisspelled(client, key, options);
      return client.call(setGlobalSetting, { key, body: { value } });
    });
    if (options.json) printJson({ key, said });
    else printNote(said);
  });

const unset = createCommand("unset", "remove what was set for the instance: the default counts again")
  .argument("<key>", "such as base_url")
  .addHelpText("after", formatExamples("svc config unset base_url"))
  .action(async (key: string, options: CommonOptions) => {
    const said = await withClient(options, async (client) => {
      await rejectMisspelled(client, key, options);
      return client.call(setGlobalSetting, { key, body: { value: null } });
    });
    if (options.json) printJson({ key, said });
    else printNote(said);
  });

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const command = createNoun("config", "show and change settings").addHelpText(
  "after",
  formatExamples("svc config", "svc config get base_url", "svc config set base_url https://svc.example.org"),
);
for (const verb of [list, get, set, unset]) command.addCommand(verb, { isDefault: verb === list });

export default command;
