/** A systemd unit (systemd.service(5)) that starts the server with the machine, or with its user. */
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { CliError } from "../terminal/failure.ts";
import { type Serving, serveCommand } from "./background.ts";

export type UnitKind = "user" | "system";

export interface Unit {
  file: string;
  /** What has to be run so that the unit is in force, and the server up. */
  commands: string[];
}

/** A directory that each kind is looked for in (systemd.unit(5)). */
function folderOf(kind: UnitKind): string {
  if (kind === "system") return "/etc/systemd/system";
  const config = process.env.XDG_CONFIG_HOME || join(process.env.HOME || homedir(), ".config");
  return join(config, "systemd/user");
}

/** @throws CliError when the file cannot be written */
export function writeUnit(kind: UnitKind, serving: Serving): Unit {
  const file = join(folderOf(kind), "svc.service");
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, unitText(kind, serving));
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
    commands: [`systemctl${user} daemon-reload`, `systemctl${user} enable --now svc`, ...lingers],
  };
}

export function unitText(kind: UnitKind, serving: Serving): string {
  const account = kind === "system" ? `User=${userInfo().username}\n` : "";
  return `[Unit]
Description=svc, workflow automation
Documentation=http://${serving.host}:${serving.port}/api/docs
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=${serveCommand(serving).map(quoted).join(" ")}
${account}Restart=on-failure
RestartSec=2
# Running jobs are waited for.
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
