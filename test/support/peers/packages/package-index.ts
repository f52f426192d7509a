/** A package index on loopback (PEP 503 pages) with small wheels and source distributions that the tests build. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TestPackage {
  name: string;
  version: string;
  /** Requirements of the package itself. */
  requires?: string[];
  /** Files by name; by default a module with the package's name and `VERSION`. */
  files?: Record<string, string>;
  /** Supported Python versions, such as `>=3.12`. */
  python?: string;
}

export interface PackageIndex extends AsyncDisposable {
  /** Ends with /simple/. */
  url: string;
  /** The index with JSON pages, for clients that read them. */
  json_url: string;
  port: number;
  /** Requested paths, in order. */
  asked: string[];
}

const BUILD = `
import base64, hashlib, json, os, sys, zipfile
folder, packages = sys.argv[1], json.loads(sys.stdin.read())
for package in packages:
    name, version = package["name"].replace("-", "_"), package["version"]
    info = "%s-%s.dist-info" % (name, version)
    files = dict(package.get("files") or {name + ".py": "VERSION = %r\\n" % version})
    lines = ["Metadata-Version: 2.1", "Name: " + package["name"], "Version: " + version]
    lines += ["Requires-Dist: " + each for each in package.get("requires") or []]
    if package.get("python"): lines.append("Requires-Python: " + package["python"])
    files[info + "/METADATA"] = "\\n".join(lines) + "\\n"
    files[info + "/WHEEL"] = "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    record = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record.append("%s,sha256=%s,%d" % (path, digest, len(text.encode())))
    files[info + "/RECORD"] = "\\n".join(record + [info + "/RECORD,,"]) + "\\n"
    path = os.path.join(folder, "%s-%s-py3-none-any.whl" % (name, version))
    with zipfile.ZipFile(path, "w") as wheel:
        for each, text in files.items(): wheel.writestr(each, text)
`;

/** Type of pages in JSON (PEP 691). */
const JSON_PAGE = "application/vnd.pypi.simple.v1+json";

/** Builds a wheel of each package into a folder. */
export async function buildWheels(folder: string, packages: TestPackage[]): Promise<void> {
  const build = Bun.spawn(["python3", "-c", BUILD, folder], {
    stdin: new TextEncoder().encode(JSON.stringify(packages)),
    stdout: "inherit",
    stderr: "inherit",
  });
  if ((await build.exited) !== 0) throw new Error("the wheels could not be built");
}

/** @param password required of user "ann" by basic authentication */
export async function startPackageIndex(packages: TestPackage[], password?: string): Promise<PackageIndex> {
  const folder = mkdtempSync(join(tmpdir(), "svc-index-"));
  await buildWheels(folder, packages);
  const wheels = [...new Bun.Glob("*.whl").scanSync(folder)];
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      const expected = `Basic ${btoa(`ann:${password}`)}`;
      if (password !== undefined && request.headers.get("authorization") !== expected) {
        return new Response("who are you?", { status: 401, headers: { "www-authenticate": "Basic" } });
      }
      const file = pathname.startsWith("/files/") ? pathname.slice("/files/".length) : undefined;
      if (file !== undefined) return new Response(Bun.file(join(folder, file)));
      const name = /^\/(?:simple|json)\/([\w.-]+)\/$/.exec(pathname)?.[1]?.replaceAll("-", "_");
      const found = wheels.filter((wheel) => wheel.toLowerCase().startsWith(`${name}-`));
      if (found.length === 0) return new Response("no such package", { status: 404 });
      if (request.headers.get("accept")?.includes(JSON_PAGE) && pathname.startsWith("/json/")) {
        const files = found.map((filename) => ({ filename, url: `/files/${filename}`, hashes: {} }));
        const page = { meta: { "api-version": "1.0" }, name, files };
        return Response.json(page, { headers: { "content-type": JSON_PAGE } });
      }
      const links = found.map((wheel) => `<a href="/files/${wheel}">${wheel}</a>`).join("\n");
      return new Response(`<!DOCTYPE html><html><body>${links}</body></html>`, {
        headers: { "content-type": "text/html" },
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/simple/`,
    json_url: `http://127.0.0.1:${server.port}/json/`,
    port: server.port!,
    asked,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
