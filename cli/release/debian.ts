/** The Debian package of a release, built by dpkg-deb: the executable, a systemd unit and a system user. */
import { chmodSync, copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { formatUnit, SYSTEM_USER } from "../commands/server/init/unit.ts";

/** Debian's names of the machines with packages. */
export const DEBIAN_MACHINES: Record<string, string> = { "linux-x64": "amd64", "linux-arm64": "arm64" };

const UNIT = formatUnit({
  service: [
    ...SYSTEM_USER,
    "# Settings, such as SVC_BASE_URL=https://svc.example.org",
    "EnvironmentFile=-/etc/default/svc",
  ],
  command: "/usr/bin/svc serve --data-dir /var/lib/svc",
  wanted_by: "multi-user.target",
});

const POSTINST = `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  getent passwd svc >/dev/null || useradd --system --home-dir /var/lib/svc --shell /usr/sbin/nologin svc
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl try-restart svc.service || echo "svc did not start again: see journalctl -u svc" >&2
  fi
fi
`;
const PRERM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now svc.service || true; fi
`;
const POSTRM = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
`;

interface Package {
  version: string;
  /** Debian's name of the machine. */
  machine: string;
  executable: string;
  license: string;
  outdir: string;
}

/**
 * Builds a Debian package with dpkg-deb.
 * @returns the name of the package's file
 * @throws Error if dpkg-deb is missing or fails
 */
export async function buildDebianPackage(of: Package): Promise<string> {
  const { version, machine, executable, license, outdir } = of;
  const root = join(outdir, `.deb-${machine}`);
  const put = (path: string, text: string, mode: number) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    chmodSync(join(root, path), mode);
  };
  try {
    put("usr/lib/systemd/system/svc.service", UNIT, 0o644);
    put("usr/share/doc/svc/copyright", license, 0o644);
    mkdirSync(join(root, "usr/bin"), { recursive: true });
    copyFileSync(executable, join(root, "usr/bin/svc"));
    chmodSync(join(root, "usr/bin/svc"), 0o755);
    const kilobytes = Math.ceil(statSync(executable).size / 1024);
    put("DEBIAN/control", formatControl(version, machine, kilobytes), 0o644);
    for (const [name, script] of Object.entries({ postinst: POSTINST, prerm: PRERM, postrm: POSTRM })) {
      put(`DEBIAN/${name}`, script, 0o755);
    }
    const name = `svc_${version}_${machine}.deb`;
    const words = ["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", root, join(outdir, name)];
    const build = Bun.spawn(words, { stdout: "ignore", stderr: "inherit" });
    if ((await build.exited) !== 0)
      throw new Error(`${name} was not built: see the output of dpkg-deb above`);
    return name;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function formatControl(version: string, machine: string, kilobytes: number): string {
  return `Package: svc
Version: ${version}
Architecture: ${machine}
Maintainer: The svc maintainers <maintainers@svc.example.org>
Installed-Size: ${kilobytes}
Depends: libc6, passwd
Recommends: ca-certificates
Suggests: python3
Section: admin
Priority: optional
Description: self-hosted workflow automation in one executable file
 Gives scripts and flows a webhook, a schedule, a log and a history, and runs
 each in a sandboxed process of its own. The unit svc.service is not enabled:
 systemctl enable --now svc starts it, and its log has the link for the first
 admin. Settings are in /etc/default/svc, data in /var/lib/svc.
`;
}
