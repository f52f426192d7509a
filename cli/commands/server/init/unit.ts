/** The text of systemd units that run the server: of `svc init`, the Debian package and the README. */

interface UnitContent {
  /** Address of the interface's description. */
  documentation?: string;
  /** Lines of the section Service: user and settings of the server. */
  service: string[];
  command: string;
  wanted_by: "multi-user.target" | "default.target";
}

/**
 * Formats the text of a systemd unit (systemd.service(5)).
 * @returns a unit (systemd.service(5)) that gives running jobs time to complete when the server stops
 */
export function formatUnit({ documentation, service, command, wanted_by }: UnitContent): string {
  return `[Unit]
Description=svc, workflow automation
${documentation === undefined ? "" : `Documentation=${documentation}\n`}After=network-online.target
Wants=network-online.target

[Service]
${service.map((line) => `${line}\n`).join("")}Environment=SVC_DRAIN_S=80
ExecStart=${command}
Restart=on-failure
RestartSec=2
# More than SVC_DRAIN_S, the time that running jobs get to finish.
TimeoutStopSec=90
KillMode=mixed

[Install]
WantedBy=${wanted_by}
`;
}

/** Lines of a unit for a system user of its own, whose data are in /var/lib/svc. */
export const SYSTEM_USER = ["User=svc", "StateDirectory=svc", "StateDirectoryMode=0700"];
