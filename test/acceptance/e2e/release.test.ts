/** The files of a release, for this machine: installed from a server, and as a Debian package into a root of its own. */
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
/** Bytes that are served in place of those of the executable. */
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
  "install.sh installs the executable that the checksums name, and nothing else",
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
  "the Debian package has the executable, its unit and the user's creation",
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

test.if(isHere)("the checksums and the formula name the files that are there", async () => {
  expect((await run(["sh", "-c", `cd '${outdir}' && sha256sum --check SHA256SUMS`])).code).toBe(0);
  const formula = await Bun.file(join(outdir, "svc.rb")).text();
  const sums = await Bun.file(join(outdir, "SHA256SUMS")).text();
  const [, sum = ""] = new RegExp(`^(\\w{64}) {2}svc-${target}$`, "m").exec(sums) ?? [];
  expect(formula).toContain(`/svc-${target}"\n      sha256 "${sum}"`);
});
