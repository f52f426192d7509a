/** A repository of PHP packages on loopback. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ComposerRepository extends AsyncDisposable {
  url: string;
  /** Number of times that a package was downloaded. */
  downloads: () => number;
}

interface PhpPackage {
  /** `vendor/name` */
  name: string;
  version: string;
  /** Content of its only file, which is always loaded. */
  code: string;
}

export async function startComposerRepository(packages: PhpPackage[]): Promise<ComposerRepository> {
  const root = mkdtempSync(join(tmpdir(), "svc-composer-"));
  for (const { name, version, code } of packages) {
    const folder = join(root, name, version);
    await Bun.write(join(folder, "package/code.php"), code);
    const made = Bun.spawnSync(["tar", "cf", join(root, archiveOf(name, version)), "package"], {
      cwd: folder,
    });
    if (!made.success) throw new Error(`tar failed: ${made.stderr}`);
  }
  let downloads = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch({ url }) {
      const { origin, pathname } = new URL(url);
      if (pathname === "/packages.json") return Response.json({ packages: describe(packages, origin) });
      const file = Bun.file(join(root, pathname));
      if (!(await file.exists())) return new Response("not found", { status: 404 });
      downloads++;
      return new Response(file);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    downloads: () => downloads,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const archiveOf = (name: string, version: string) => `${name.replace("/", "-")}-${version}.tar`;

function describe(packages: PhpPackage[], origin: string): Record<string, Record<string, unknown>> {
  const described: Record<string, Record<string, unknown>> = {};
  for (const { name, version } of packages) {
    described[name] ??= {};
    described[name][version] = {
      name,
      version,
      dist: { type: "tar", url: `${origin}/${archiveOf(name, version)}` },
      autoload: { files: ["code.php"] },
    };
  }
  return described;
}
