/** Writes a systemd unit (systemd.service(5)) that starts the server with the machine, or with its user. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { PROCESS_SETTINGS } from "../../../../src/platform/config/config.ts";
import { readVariable, type Setting } from "../../../../src/platform/config/setting.ts";
import { CliError } from "../../../terminal/text/failure.ts";
import { getServeCommand, type ServeTarget } from "./background.ts";
import { formatUnit } from "./unit.ts";

export type UnitKind = "user" | "system";

export interface SystemdUnit {
  file: string;
  /** File with the settings of this environment, if there are any. */
  environment: string | undefined;
  /** Commands that enable the unit and start the server. */
  commands: string[];
}

/** Returns a directory in which systemd looks for units of this kind (systemd.unit(5)). */
function getUnitFolder(kind: UnitKind): string {
  if (kind === "system") return "/etc/systemd/system";
  const config = process.env.XDG_CONFIG_HOME || join(process.env.HOME || homedir(), ".config");
  return join(config, "systemd/user");
}

/** Lists settings in this environment that are not in the unit's command line. */
function listEnvironmentSettings(): [variable: string, value: string][] {
  const { data_dir: _, host: __, port: ___, ...others } = PROCESS_SETTINGS;
  return Object.values(others).flatMap((setting) => {
    const { variable, also } = setting as Setting;
    const value = readVariable(process.env, variable, also);
    return value ? [[variable, value]] : [];
  });
}

/**
 * Writes the environment's settings to a file for its owner only. Without the same key and database the unit would
 * start another instance; secrets must not be in the unit, which everybody may read.
 * @returns the file (systemd.exec(5), EnvironmentFile); undefined if there are no settings
 */
function writeEnvironment(data_dir: string): string | undefined {
  const lines = listEnvironmentSettings().map(
    ([name, value]) => `${name}="${value.replace(/["\\`$]/g, "\\$&")}"\n`,
  );
  if (lines.length === 0) return undefined;
  const file = join(data_dir, "svc.env");
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  chmodSync(file, 0o600);
  return file;
}

/** Writes a systemd unit that starts the server. @throws CliError if the file cannot be written */
export function writeUnit(kind: UnitKind, serving: ServeTarget): SystemdUnit {
  const file = join(getUnitFolder(kind), "svc.service");
  let environment: string | undefined;
  try {
    environment = writeEnvironment(serving.data_dir);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, formatOwnUnit(kind, serving, environment));
  } catch (cause) {
    const { code, message } = cause as Error & { code?: string };
    throw new CliError("Unit", `${file} cannot be written: ${code ?? message}`, {
      hint: `everything else is set up; svc serve --data-dir ${serving.data_dir} starts the server by hand`,
    });
  }
  const user = kind === "user" ? " --user" : "";
  const lingers = kind === "user" ? [`loginctl enable-linger ${getUserName()}`] : [];
  return {
    file,
    environment,
    commands: [`systemctl${user} daemon-reload`, `systemctl${user} enable --now svc`, ...lingers],
  };
}

/**
 * Returns the name of this process's user in passwd(5), else the number, which systemd takes as well. `userInfo` would
 * take the name from USER, which cron and containers leave out, and `su` leaves as it was.
 */
function getUserName(): string {
  const uid = String(userInfo().uid);
  const passwd = existsSync("/etc/passwd") ? readFileSync("/etc/passwd", "utf8") : "";
  const line = passwd.split("\n").find((entry) => entry.split(":")[2] === uid);
  return line?.split(":")[0] || uid;
}

function formatOwnUnit(kind: UnitKind, serving: ServeTarget, environment: string | undefined): string {
  const account = kind === "system" ? [`User=${getUserName()}`] : [];
  const settings = environment === undefined ? [] : [`EnvironmentFile=${escapePathPattern(environment)}`];
  return formatUnit({
    documentation: `http://${serving.host}:${serving.port}/api/docs`,
    service: [...account, ...settings],
    command: getServeCommand(serving).map(quoteForUnit).join(" "),
    wanted_by: kind === "system" ? "multi-user.target" : "default.target",
  });
}

/** Quotes a word for a unit's command line, including systemd's specifiers. */
function quoteForUnit(word: string): string {
  const plain = word.replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@%+=:,./$-]+$/.test(plain) ? plain : `"${plain.replace(/["\\]/g, "\\$&")}"`;
}

/** Escapes a path where a unit expects a glob pattern and no quotes. */
const escapePathPattern = (path: string) => path.replaceAll("%", "%%").replace(/[\\*?[]/g, "\\$&");
