/** A systemd unit (systemd.service(5)) that starts the server with the machine, or with its user. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { SETTINGS } from "../../../../src/platform/config/config.ts";
import { CliError } from "../../../terminal/text/failure.ts";
import { type Serving, serveCommand } from "./background.ts";

export type UnitKind = "user" | "system";

export interface Unit {
  file: string;
  /** The file with what this environment sets, where it sets anything. */
  environment: string | undefined;
  /** What has to be run so that the unit is in force, and the server up. */
  commands: string[];
}

/** A directory that each kind is looked for in (systemd.unit(5)). */
function folderOf(kind: UnitKind): string {
  if (kind === "system") return "/etc/systemd/system";
  const config = process.env.XDG_CONFIG_HOME || join(process.env.HOME || homedir(), ".config");
  return join(config, "systemd/user");
}

/** What this environment sets, and the command of the unit does not say. */
function settingsHere(): [variable: string, value: string][] {
  const { data_dir: _, host: __, port: ___, ...others } = SETTINGS;
  return Object.values(others).flatMap(({ variable }) => {
    const value = process.env[variable];
    return value ? [[variable, value]] : [];
  });
}

/**
 * Systemd knows nothing of the environment that the data was set up in: without its key, or its database, the server would
 * begin another instance. Secrets may be among it, so no unit holds it, which everybody may read.
 * @returns the file that keeps it, for its owner's eyes (systemd.exec(5), EnvironmentFile); undefined: there is nothing
 */
function writeEnvironment(data_dir: string): string | undefined {
  const lines = settingsHere().map(([name, value]) => `${name}="${value.replace(/["\\`$]/g, "\\$&")}"\n`);
  if (lines.length === 0) return undefined;
  const file = join(data_dir, "svc.env");
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  chmodSync(file, 0o600);
  return file;
}

/** @throws CliError when the file cannot be written */
export function writeUnit(kind: UnitKind, serving: Serving): Unit {
  const file = join(folderOf(kind), "svc.service");
  let environment: string | undefined;
  try {
    environment = writeEnvironment(serving.data_dir);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, unitText(kind, serving, environment));
  } catch (cause) {
    const { code, message } = cause as Error & { code?: string };
    throw new CliError("Unit", `${file} cannot be written: ${code ?? message}`, {
      hint: `all else is set up; svc serve --data-dir ${serving.data_dir} starts the server by hand`,
    });
  }
  const user = kind === "user" ? " --user" : "";
  const lingers = kind === "user" ? [`loginctl enable-linger ${userInfo().username}`] : [];
  return {
    file,
    environment,
    commands: [`systemctl${user} daemon-reload`, `systemctl${user} enable --now svc`, ...lingers],
  };
}

export function unitText(kind: UnitKind, serving: Serving, environment: string | undefined): string {
  const environmentFile = environment === undefined ? "" : `EnvironmentFile=${literalPath(environment)}\n`;
  const account = kind === "system" ? `User=${userInfo().username}\n` : "";
  return `[Unit]
Description=svc, workflow automation
Documentation=http://${serving.host}:${serving.port}/api/docs
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=${serveCommand(serving).map(quoted).join(" ")}
${account}${environmentFile}Restart=on-failure
RestartSec=2
# Running jobs get time to finish.
TimeoutStopSec=90
KillMode=mixed

[Install]
WantedBy=${kind === "system" ? "multi-user.target" : "default.target"}
`;
}

/** In a command line of a unit: quotes and backslashes are escaped, and so is what stands for something else. */
function quoted(word: string): string {
  const plain = word.replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@%+=:,./$-]+$/.test(plain) ? plain : `"${plain.replace(/["\\]/g, "\\$&")}"`;
}

/** Where a unit takes a pattern of paths, and no quotes. */
const literalPath = (path: string) => path.replaceAll("%", "%%").replace(/[\\*?[]/g, "\\$&");
