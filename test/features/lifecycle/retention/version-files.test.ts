/** Files of versions that are no longer used are deleted, and no others. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { dialect } from "../../../../src/database/kit.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";
import { installClients } from "../../../support/peers/packages/package-clients.ts";
import { advanceClock, DAY_S, HOUR_S, prune, RETENTION, secondsAgo } from "./retention-setup.ts";

/** Clients that install one function, for either language. */
const CLIENTS = {
  composer: `<?php
if ($argv[1] === 'update') exit(file_put_contents('composer.lock', '{}') ? 0 : 1);
mkdir('vendor');
file_put_contents('vendor/autoload.php', "<?php function greet() { return 'hello'; }");
`,
  bundle: `
exit File.write('Gemfile.lock', 'GEM') ? 0 : 1 if ARGV[0] == 'lock'
Dir.mkdir('bundle')
Dir.mkdir('bundle/bundler')
File.write('bundle/bundler/setup.rb', "def greet = 'hello'")
`,
};

describe("files of versions", () => {
  const folderOf = (server: TestServer, hash: string) => join(server.data_dir, "runner/versions/acme", hash);
  const call = (ask: Ask, name: string, args = {}) =>
    ask("POST", `/w/acme/jobs/run_wait_result/p/u/admin/${name}`, args);
  const noneWarm = ({ server }: TestServer) =>
    until(() => (server.app.runner.stats().idle === 0 ? true : undefined), "warm processes to end");

  test("are deleted with their dependencies when unused, and recreated on demand", async () => {
    await using server = await startTestServer({ ...RETENTION, child_idle_s: 0.1 });
    const { ask } = await server.workspace();
    const content = 'import isNumber from "is-number"; export const main = () => isNumber(1)';
    const hash = await deploy(ask, "acme", "u/admin/depends", content);
    expect((await call(ask, "depends")).text).toBe("true");
    const dependencies = join(server.data_dir, "runner/dependencies");
    const [installed] = readdirSync(dependencies);
    await noneWarm(server);

    await prune(server);
    expect(existsSync(folderOf(server, hash))).toBe(true);
    expect(readdirSync(dependencies)).toEqual([installed!]);

    advanceClock(server, DAY_S + 60);
    await prune(server);
    expect(existsSync(folderOf(server, hash))).toBe(false);
    expect(readdirSync(dependencies)).toEqual([]);
    expect((await call(ask, "depends")).text).toBe("true");
    expect(readdirSync(dependencies)).toEqual([installed!]);
  }, 60_000);

  test("are kept while a process runs them", async () => {
    await using server = await startTestServer(RETENTION);
    const { ask } = await server.workspace();
    // It needs files on disk that it loads later: a module of its own, and a package.
    const later = `export const mark = "there";
      export async function main(late: boolean) {
        return late ? [(await import(import.meta.path)).mark, (await import("is-number")).default(1)] : [];
      }`;
    const warm = await deploy(ask, "acme", "u/admin/warm", later);
    const idle = await deploy(ask, "acme", "u/admin/idle", "export const main = () => 1");
    expect((await call(ask, "warm", { late: false })).json()).toEqual([]);
    advanceClock(server, DAY_S + 60);
    await prune(server);
    expect([warm, idle].map((hash) => existsSync(folderOf(server, hash)))).toEqual([true, false]);
    expect((await call(ask, "warm", { late: true })).json()).toEqual(["there", true]);
    expect((await call(ask, "idle")).json()).toBe(1);
  }, 60_000);

  test.each([
    ["php", "composer", "<?php\n// require:\n// some/greeting\nfunction main() { return greet(); }\n"],
    ["ruby", "bundle", "gemfile do\n  gem 'greeting'\nend\ndef main = greet\n"],
  ])("of %s are kept with their packages while they are in use", async (language, client, content) => {
    if (!Bun.which(language)) return;
    using clients = installClients(CLIENTS);
    const before = process.env.PATH;
    process.env.PATH = clients.path;
    try {
      await using server = await startTestServer({ ...RETENTION, child_idle_s: 0.1 });
      const { ask } = await server.workspace();
      const hash = await deploy(ask, "acme", `u/admin/${client}`, content, { language });
      expect((await call(ask, client)).json()).toBe("hello");
      await noneWarm(server);
      const later = secondsAgo(-2 * DAY_S);
      utimesSync(folderOf(server, hash), later, later);
      advanceClock(server, DAY_S + 60);
      await prune(server);
      expect((await call(ask, client)).json()).toBe("hello");
      await noneWarm(server);
      advanceClock(server, 4 * DAY_S);
      await prune(server);
      expect(readdirSync(join(server.data_dir, "runner/dependencies"))).toEqual([]);
    } finally {
      process.env.PATH = before;
    }
  });

  // The files are the same with either database; only the embedded one is found again in the folder.
  test.skipIf(dialect !== "sqlite")("are known to be in use by the next server", async () => {
    const data_dir = await mkdtemp(join(tmpdir(), "svc-files-"));
    const first = await startTestServer({ ...RETENTION, data_dir });
    const { ask, token } = await first.workspace();
    const folders: Record<string, string> = {};
    for (const name of ["unused", "used", "new"]) {
      const hash = await deploy(ask, "acme", `u/admin/${name}`, `export const main = () => "${name}"`);
      folders[name] = folderOf(first, hash);
      await expectOk(call(ask, name));
    }
    await first.stop();
    const long = secondsAgo(10 * DAY_S);
    for (const name of ["unused", "used"]) utimesSync(folders[name]!, long, long);

    const second = await startTestServer({ ...RETENTION, data_dir, child_idle_s: 0.1 });
    await expectOk(call(second.as(token), "used"));
    await noneWarm(second);
    await prune(second);
    await second.stop();
    expect(readdirSync(join(data_dir, "runner/versions/acme")).sort()).toEqual(
      [basename(folders.used!), basename(folders.new!)].sort(),
    );
    expect(statSync(folders.used!).mtimeMs).toBeGreaterThan(Date.now() - HOUR_S * 1000);
    await rm(data_dir, { recursive: true, force: true });
  });
});
