/**
 * The files of a release for this machine: installed from a server, and as a Debian package into a separate
 * root.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "../../../src/lib/version.ts";

const ROOT = join(import.meta.dir, "../../..");
const work = mkdtempSync(join(tmpdir(), "svc-release-"));
const outdir = join(work, "release");
const isHere = process.platform === "linux" && existsSync("/usr/bin/dpkg-deb");
const target = `linux-${process.arch}`;
let server: ReturnType<typeof Bun.serve> | undefined;
/** Bytes served instead of the executable's. */
let tampered: string | undefined;

async function run(words: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn(words, {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? "", HOME: work, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, code };
}

/**
 * A root in which dpkg really installs: this machine's files below an overlay that receives all changes, in a
 * mount namespace that ends with the script. Arguments: a folder, and the commands to run in the root.
 */
const IN_A_ROOT = `set -e
mkdir -p "$1/layer" "$1/root"
mount -t tmpfs none "$1/layer"
mkdir "$1/layer/new" "$1/layer/work"
mount -t overlay none -o "lowerdir=/,upperdir=$1/layer/new,workdir=$1/layer/work" "$1/root"
mount --rbind /proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
chroot "$1/root" sh -ec "$2"`;
const inRoot = (commands: string) =>
  run(["unshare", "--mount", "sh", "-c", IN_A_ROOT, "sh", join(work, "chroot"), commands]);
/** Only root may mount, and some containers have no overlay file system. */
const hasRoots = isHere && process.getuid!() === 0 && (await inRoot("true")).code === 0;

beforeAll(async () => {
  if (!isHere) return;
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const name = new URL(request.url).pathname.slice(1);
      if (tampered !== undefined && name === `svc-${target}`) return new Response(tampered);
      const file = Bun.file(join(outdir, name));
      return (await file.exists()) ? new Response(file) : new Response("none", { status: 404 });
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  const words = ["cli/release.ts", "--target", target, "--outdir", outdir, "--url", url];
  const made = await run([process.execPath, ...words]);
  expect({ code: made.code, err: made.err }).toMatchObject({ code: 0 });
}, 180_000);
afterAll(async () => {
  await server?.stop(true);
  rmSync(work, { recursive: true, force: true });
});

test.if(isHere)(
  "install.sh installs only the executable that the checksums name",
  async () => {
    const folder = join(work, "bin");
    const install = () => run(["sh", join(outdir, "install.sh")], { SVC_INSTALL_DIR: folder });
    tampered = "#!/bin/sh\necho owned";
    const refused = await install();
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("nothing was installed") });
    expect(existsSync(join(folder, "svc"))).toBe(false);
    tampered = undefined;
    const done = await install();
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining(`installed svc ${VERSION}`) });
    expect((await run([join(folder, "svc"), "--version"])).out).toStartWith(VERSION);
    const nowhere = await run(["sh", join(outdir, "install.sh")], {
      SVC_INSTALL_DIR: folder,
      SVC_DOWNLOAD_URL: "http://127.0.0.1:9",
    });
    expect(nowhere).toMatchObject({ code: 1, err: expect.stringContaining("could not be downloaded") });
  },
  60_000,
);

test.if(isHere)(
  "the Debian package contains the executable, its unit and the script that creates its user",
  async () => {
    const machine = process.arch === "arm64" ? "arm64" : "amd64";
    const file = join(outdir, `svc_${VERSION}_${machine}.deb`);
    const root = join(work, "root");
    mkdirSync(root);
    expect((await run(["dpkg", "-x", file, root])).code).toBe(0);
    expect((await run([join(root, "usr/bin/svc"), "--version"])).out).toStartWith(VERSION);
    const unit = await Bun.file(join(root, "usr/lib/systemd/system/svc.service")).text();
    expect(unit).toContain("ExecStart=/usr/bin/svc serve --data-dir /var/lib/svc");
    const control = (await run(["dpkg-deb", "-f", file])).out;
    expect(control).toContain(`Version: ${VERSION}\nArchitecture: ${machine}\n`);
    const scripts = join(work, "scripts");
    expect((await run(["dpkg-deb", "-e", file, scripts])).code).toBe(0);
    for (const name of ["postinst", "prerm", "postrm"])
      expect((await run(["sh", "-n", join(scripts, name)])).code).toBe(0);
    expect((await run(["dpkg-deb", "-c", file])).out).not.toMatch(/^\S+ (?!root\/root)/m);
  },
  60_000,
);

test.if(hasRoots)(
  "dpkg installs the package for its own user, over itself, and removes it but not the data",
  async () => {
    const machine = process.arch === "arm64" ? "arm64" : "amd64";
    const file = join(outdir, `svc_${VERSION}_${machine}.deb`);
    const init =
      "svc init --data-dir /var/lib/svc --listen 127.0.0.1:0 --email ann@example.org --password correct-horse --no-start";
    const users = await Bun.file("/etc/passwd").text();
    const { code, out, err } = await inRoot(`
      dpkg --install '${file}' >&2
      [ "$(getent passwd svc | cut -d: -f6,7)" = /var/lib/svc:/usr/sbin/nologin ]
      install -d -o svc -g svc -m 700 /var/lib/svc
      as_svc() { setpriv --reuid svc --regid svc --clear-groups env -i PATH=/usr/bin:/bin HOME=/var/lib/svc "$@"; }
      as_svc ${init} >&2
      dpkg --install '${file}' >&2
      as_svc svc workspace list --data-dir /var/lib/svc
      dpkg --purge svc >&2
      ! command -v svc
      [ -e /var/lib/svc/instance.key ] && [ ! -e /usr/lib/systemd/system/svc.service ]`);
    expect({ code, out, err }).toMatchObject({ code: 0, out: "main\tmain\tann@example.org\n" });
    expect(await Bun.file("/etc/passwd").text()).toBe(users);
  },
  60_000,
);

test.if(isHere)("the checksums and the formula name existing files", async () => {
  expect((await run(["sh", "-c", `cd '${outdir}' && sha256sum --check SHA256SUMS`])).code).toBe(0);
  const formula = await Bun.file(join(outdir, "svc.rb")).text();
  const sums = await Bun.file(join(outdir, "SHA256SUMS")).text();
  const [, sum = ""] = new RegExp(`^(\\w{64}) {2}svc-${target}$`, "m").exec(sums) ?? [];
  expect(formula).toContain(`/svc-${target}"\n      sha256 "${sum}"`);
});
