/** A Go module proxy on loopback with modules of one file each. */
import { createZipStream } from "../../../../src/lib/files/zip.ts";

interface GoModule {
  /** Module path; in lower case, because addresses escape capitals. */
  path: string;
  version: string;
  source: string;
}

export interface GoProxy extends AsyncDisposable {
  url: string;
}

/** @param beforeSource awaited before the source of a module is sent */
export function startGoProxy(
  modules: GoModule[],
  beforeSource: (path: string) => Promise<void> | void = () => {},
): GoProxy {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch({ url }) {
      const { pathname } = new URL(url);
      const [, path, name] = /^\/(.+)\/@(?:v\/)?([^/]+)$/.exec(pathname) ?? [];
      const versions = modules.filter((each) => each.path === path);
      if (name === "list") return new Response(versions.map(({ version }) => version).join("\n"));
      const found =
        name === "latest" ? versions.at(-1) : versions.find(({ version }) => name?.startsWith(`${version}.`));
      if (!found) return new Response("not found", { status: 404 });
      const { version, source } = found;
      const module = `module ${path}\n`;
      if (name === "latest" || name!.endsWith(".info"))
        return Response.json({ Version: version, Time: "2024-01-01T00:00:00Z" });
      if (name!.endsWith(".mod")) return new Response(module);
      await beforeSource(path!);
      const files = { "go.mod": module, "code.go": source };
      const entries = Object.entries(files).map(([file, content]) => ({
        name: `${path}@${version}/${file}`,
        content,
      }));
      return new Response(createZipStream(entries, new Date(2024, 0, 1)));
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
