/** A package registry on loopback with packages of one module each. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface NpmPackage {
  name: string;
  version: string;
  /** CommonJS. */
  code: string;
  dependencies?: Record<string, string>;
  /** Size of a further file, of zeros, in MB. */
  zeros_mb?: number;
}

export interface NpmRegistry extends AsyncDisposable {
  url: string;
  /** Returns the entry of a package in a `bun.lock`. */
  lockEntry(name: string, version: string): unknown[];
}

/**
 * @param beforeAnswer awaited before a request for a package is answered
 * @param beforeEnd awaited before the last bytes of an archive are sent
 */
export function startNpmRegistry(
  packages: NpmPackage[],
  beforeAnswer: (name: string) => Promise<void> | void = () => {},
  beforeEnd?: () => Promise<void>,
): NpmRegistry {
  const made = packages.map((each) => ({ ...each, archive: pack(each) }));
  const served = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { origin, pathname } = new URL(request.url);
      const [, name, version] = /^\/([^/]+)(?:\/-\/[a-z-]+\d*-(.+)\.tgz)?$/.exec(pathname) ?? [];
      const found = made.filter((each) => each.name === name);
      const asked = found.find((each) => each.version === version);
      if (found.length === 0 || (version && !asked)) return new Response("not found", { status: 404 });
      await beforeAnswer(name!);
      if (asked) return new Response(beforeEnd ? sendInTwo(asked.archive, beforeEnd) : asked.archive);
      const versions = found.map(({ archive, code: _, zeros_mb: __, ...each }) => [
        each.version,
        {
          ...each,
          dist: {
            tarball: `${origin}/${name}/-/${name}-${each.version}.tgz`,
            integrity: integrityOf(archive),
          },
        },
      ]);
      const latest = found.at(-1)!.version;
      return Response.json({ name, "dist-tags": { latest }, versions: Object.fromEntries(versions) });
    },
  });
  return {
    url: `http://127.0.0.1:${served.port}/`,
    lockEntry(name, version) {
      const found = made.find((each) => each.name === name && each.version === version);
      return [`${name}@${version}`, "", {}, integrityOf(found?.archive ?? Buffer.from("gone"))];
    },
    [Symbol.asyncDispose]: () => served.stop(true),
  };
}

const integrityOf = (archive: Buffer) => `sha512-${createHash("sha512").update(archive).digest("base64")}`;

async function* sendInTwo(archive: Buffer, beforeEnd: () => Promise<void>): AsyncGenerator<Buffer> {
  yield archive.subarray(0, -100);
  await beforeEnd();
  yield archive.subarray(-100);
}

function pack({ name, version, code, zeros_mb }: NpmPackage): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "svc-npm-"));
  try {
    mkdirSync(join(folder, "package"));
    writeFileSync(join(folder, "package/package.json"), JSON.stringify({ name, version, main: "index.js" }));
    writeFileSync(join(folder, "package/index.js"), code);
    if (zeros_mb !== undefined) {
      const zeros = join(folder, "package/zeros");
      writeFileSync(zeros, "");
      truncateSync(zeros, zeros_mb * 2 ** 20);
    }
    Bun.spawnSync(["tar", "czf", "made.tgz", "package"], { cwd: folder });
    return readFileSync(join(folder, "made.tgz"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
