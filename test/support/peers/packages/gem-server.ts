/** A gem server on loopback, with files as RubyGems' own tools write them. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface GemServer extends AsyncDisposable {
  url: string;
  /** Number of times that a gem was downloaded. */
  downloads: () => number;
}

interface Gem {
  name: string;
  version: string;
  /** Content of its files, by their paths. */
  files: Record<string, string>;
}

export async function startGemServer(gems: Gem[]): Promise<GemServer> {
  const root = mkdtempSync(join(tmpdir(), "svc-gems-"));
  mkdirSync(join(root, "public", "gems"), { recursive: true });
  for (const { name, version, files } of gems) {
    const folder = join(root, `${name}-${version}`);
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      await Bun.write(join(folder, file), content);
    }
    const specification = `Gem::Specification.new do |s|
  s.name = "${name}"; s.version = "${version}"; s.summary = "a gem"; s.authors = ["someone"]
  s.files = ${JSON.stringify(Object.keys(files))}
end
`;
    await Bun.write(join(folder, "it.gemspec"), specification);
    await run(["gem", "build", "it.gemspec", "-o", join(root, `public/gems/${name}-${version}.gem`)], folder);
  }
  await run(["gem", "generate_index"], join(root, "public"));
  let downloads = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch({ url }) {
      const { pathname } = new URL(url);
      const file = Bun.file(join(root, "public", pathname));
      if (!(await file.exists())) return new Response("not found", { status: 404 });
      if (pathname.endsWith(".gem")) downloads++;
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

async function run(command: string[], cwd: string): Promise<void> {
  const child = Bun.spawn(command, { cwd, stdout: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0)
    throw new Error(`${command.join(" ")} failed: ${await child.stderr.text()}`);
}
