import chalk from "chalk";
import {
  getGlobalSetting,
  getLocalSettings,
  listGlobalSettings,
  setGlobalSetting,
} from "../../../src/features/instance/settings/operations.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { describeProcess } from "../../../src/platform/config/process.ts";
import { type CommonOptions, examples, leaf, noun, withClient } from "../../program/command.ts";
import { usageError } from "../../terminal/text/failure.ts";
import { note, oneLine, print, printJson, terminalWidth, wrap } from "../../terminal/text/output.ts";

interface Shown {
  name: string;
  /** How it is changed: by its environment variable alone, or with `svc config set` too. */
  of: "process" | "instance";
  value: unknown;
  source: string;
  variable: string | undefined;
  meaning: string | undefined;
}

async function readAll(options: CommonOptions): Promise<Shown[]> {
  return withClient(options, async (client) => {
    // With no server up, what a server would be started with is shown, not what this command was.
    const process = client.local
      ? describeProcess(loadConfig({ data_dir: options.dataDir }))
      : await client.call(getLocalSettings, {});
    const instance = await client.call(listGlobalSettings, { query: { all: true } });
    return [
      ...Object.entries(process)
        // What is one thing with a setting of the instance is shown there, where it may be stored too.
        .filter(([, { setting }]) => setting === undefined)
        .map(([name, { value, source, variable, meaning }]) => {
          return { name, of: "process" as const, value, source, variable, meaning };
        }),
      ...instance.map(({ name, value, source, variable, meaning }) => {
        return { name, of: "instance" as const, value: value ?? null, source, variable, meaning };
      }),
    ];
  });
}

const list = leaf("list", "list every setting, its value and where it comes from; secrets stay hidden")
  .addHelpText("after", examples("svc config", "svc config list --json"))
  .action(async (options: CommonOptions) => {
    const settings = await readAll(options);
    if (options.json) return printJson(settings);
    for (const setting of settings) print(process.stdout.isTTY ? forPerson(setting) : forPipe(setting));
  });

function forPipe({ name, value, source, variable, meaning }: Shown): string {
  return [name, textOf(value), source, variable ?? "", meaning ?? ""].map(oneLine).join("\t");
}

/** Too much for the columns of a table: what it is, and below that what it means. */
function forPerson({ name, value, source, variable, meaning }: Shown): string {
  const width = terminalWidth();
  const from = source === "default" ? "" : ` (${source})`;
  const room = width - name.length - from.length - 2;
  const text = oneLine(textOf(value));
  const shown = text.length > room ? `${text.slice(0, Math.max(0, room - 1))}…` : text;
  const below = wrap(`${meaning ?? ""}${variable === undefined ? "" : ` (${variable})`}`, width - 4);
  return [
    `${chalk.bold(name)}  ${shown}${chalk.yellow(from)}`.trimEnd(),
    ...below.map((line) => `    ${chalk.dim(oneLine(line))}`),
  ].join("\n");
}

/** A text as it is, anything else as JSON. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const get = leaf("get", "print a setting; one of the instance in full, even if it is a secret")
  .argument("<key>", "such as base_url")
  .addHelpText("after", examples("svc config get base_url", "svc config get smtp_settings --json"))
  .action(async (key: string, options: CommonOptions) => {
    const found = (await readAll(options)).find(({ name }) => name === key);
    if (!found) throw usageError(`there is no setting ${key}`, "svc config list lists them");
    const value =
      found.of === "process" || found.source === "default"
        ? found.value
        : await withClient(options, (client) => client.call(getGlobalSetting, { key }));
    if (options.json) printJson({ ...found, value });
    else print(textOf(value));
  });

const set = leaf("set", "change a setting of the instance; takes effect at once")
  .argument("<key>", "such as base_url")
  .argument("<value>", "JSON, or a text as it is; - reads it from stdin; null removes what was set")
  .addHelpText(
    "after",
    examples(
      "svc config set base_url https://svc.example.org",
      "svc config set retention_period_secs 604800",
      "svc config set smtp_settings - < smtp.json",
      "svc config set base_url null",
    ),
  )
  .action(async (key: string, given: string, options: CommonOptions) => {
    const text = given === "-" ? (await Bun.stdin.text()).replace(/\r?\n$/, "") : given;
    const value = toValue(text);
    const said = await withClient(options, (client) =>
      client.call(setGlobalSetting, { key, body: { value } }),
    );
    if (options.json) printJson({ key, said });
    else note(said);
  });

function toValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const command = noun("config", "show and change settings").addHelpText(
  "after",
  examples("svc config", "svc config get base_url", "svc config set base_url https://svc.example.org"),
);
for (const verb of [list, get, set]) command.addCommand(verb, { isDefault: verb === list });

export default command;
