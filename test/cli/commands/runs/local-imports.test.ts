/** `svc run` and `svc dev` of a local file: its imports are local files, or else the workspace's scripts. */
import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { deploy, startTestServer } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment, start } from "../../program.ts";

async function projectWith(place: CliEnvironment, files: Record<string, string>) {
  await place.file("wmill.yaml", "defaultTs: bun\n");
  for (const [name, content] of Object.entries(files)) await place.file(name, content);
}

const ACME = { SVC_WORKSPACE: "acme" };

test("TypeScript: relative and absolute imports use the folder's files, and the workspace for missing ones", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace();
  await ask("POST", "/w/acme/folders/create", { name: "lib" });
  await ask("POST", "/w/acme/folders/create", { name: "shop" });
  await deploy(ask, "acme", "f/lib/rates", "export const rate = 'deployed';");
  await deploy(ask, "acme", "f/lib/remote", "export const remote = 'deployed';");
  await projectWith(place, {
    "f/shop/total.ts": `import { tax } from "./tax.ts";
import { rate } from "../lib/rates";
import { remote } from "/f/lib/remote";
import { mine } from "/u/admin/mine.ts";
export const main = () => [tax(), rate, remote, mine];`,
    "f/shop/tax.ts": `import { rate } from "/f/lib/rates.ts"; export const tax = () => "tax of " + rate;`,
    "f/lib/rates.ts": "export const rate = 'local';",
    "u/admin/mine.ts": "export const mine = 'mine';",
  });
  const ran = await place.svc(["run", "f/shop/total.ts", "--no-log"], { env: ACME });
  // The argument is a deployed script's path; local files are given with their folder.
  expect(ran.code).toBe(1);
  expect(await place.svc(["run", "./f/shop/total.ts", "--no-log"], { env: ACME })).toEqual({
    code: 0,
    out: '[\n  "tax of local",\n  "local",\n  "deployed",\n  "mine"\n]\n',
    err: "",
  });
}, 60_000);

test("local files do not make unreadable deployed scripts importable", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace();
  const hidden = "export const key = 'hidden';";
  await deploy(ask, "acme", "u/admin/hidden", hidden);
  const bob = (await server.member("acme", "bob")).ask;
  const body = {
    language: "bun",
    path: "f/any/start",
    content: `import { key } from "./between"; export const main = () => key;`,
    modules: { "f/any/between": `export { key } from "/u/admin/hidden";` },
  };
  const refused = await bob("POST", "/w/acme/jobs/run_wait_result/preview", body);
  expect(refused.text).toContain("f/any/between imports /u/admin/hidden");
  expect(refused.text).not.toContain("'hidden'");
  const allowed = await ask("POST", "/w/acme/jobs/run_wait_result/preview", body);
  expect(allowed.json()).toBe("hidden");
}, 60_000);

test("Python: from f.dir.x, from .x and from ..dir.x use the folder's files, and its own packages", async () => {
  using place = createCliEnvironment();
  await projectWith(place, {
    "f/shop/total.py": `from f.lib.rates import rate
from .tax import tax
from ..lib import more
import f.lib.rates as rates
def main():
    return [rate, tax(), more.name, rates.rate]
`,
    "f/shop/tax.py": "from f.lib.rates import rate\ndef tax():\n    return 'tax of ' + rate\n",
    "f/lib/rates.py": "rate = 'local'\n",
    "f/lib/more.py": "name = 'more'\n",
  });
  expect(await place.svc(["run", "./f/shop/total.py", "--no-log"])).toEqual({
    code: 0,
    out: '[\n  "local",\n  "tax of local",\n  "more",\n  "local"\n]\n',
    err: "",
  });
}, 60_000);

test("a file outside of a project imports its neighbours; a link out of the folder is not followed", async () => {
  using place = createCliEnvironment();
  await place.file("work/start.ts", `import { a } from "./a"; export const main = () => a;`);
  await place.file("work/a.ts", "export { a } from './deep/a.ts';");
  await place.file("work/deep/a.ts", "export const a = 'found';");
  expect(await place.svc(["run", "work/start.ts", "--no-log"])).toEqual({
    code: 0,
    out: '"found"\n',
    err: "",
  });
  await place.file("secret.ts", "export const a = 'of somebody else';");
  await place.file("work/linked.ts", `import { a } from "./link"; export const main = () => a;`);
  symlinkSync(join(place.folder, "secret.ts"), join(place.folder, "work/link.ts"));
  const refused = await place.svc(["run", "work/linked.ts"]);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("linked.ts imports ./link: there is no file link.ts in ");
}, 60_000);

test("a missing neighbour is reported by the names of the files, before a job starts", async () => {
  using place = createCliEnvironment();
  await place.file("work/start.ts", `import { a } from "./a"; export const main = () => a;`);
  await place.file("work/a.ts", `export { a } from "./gone.ts";`);
  await place.file("work/out.ts", `import { a } from "../a"; export const main = () => a;`);
  await place.file("work/start.py", "from .gone import a\ndef main():\n    return a\n");
  const folder = join(place.folder, "work");
  for (const [file, message] of [
    ["start.ts", `a.ts imports ./gone.ts: there is no file gone.ts in ${folder}`],
    ["out.ts", "out.ts imports ../a, which is outside of its folder"],
    ["start.py", `start.py imports .gone.a: there is no file gone.py in ${folder}`],
  ] as const) {
    expect(await place.svc(["run", `work/${file}`])).toEqual({
      code: 1,
      out: "",
      err: `error: ${message}\n`,
    });
  }
}, 60_000);

test("svc dev runs when a missing neighbour is saved", async () => {
  using place = createCliEnvironment();
  await place.file("start.ts", `import { a } from "./a"; export const main = () => a;`);
  using going = start(place, ["dev", "start.ts"]);
  await going.says("there is no file a.ts");
  await place.file("a.ts", `export const a = "is there";`);
  await going.says("is there");
  going.child.kill("SIGINT");
  await going.ended();
}, 60_000);

test("svc dev runs again when an imported file is saved", async () => {
  using place = createCliEnvironment();
  const lib = (text: string) => place.file("f/lib/word.ts", `export const word = "${text}";`);
  await projectWith(place, {
    "f/shop/say.ts": `import { word } from "../lib/word.ts"; export const main = () => "says " + word;`,
  });
  await lib("one");
  using going = start(place, ["dev", "f/shop/say.ts"]);
  await going.says("says one");
  await lib("two");
  await going.says("says two");
  going.child.kill("SIGINT");
  await going.ended();
}, 60_000);

test("submitted sources are limited, and have paths of scripts", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  const run = (modules: Record<string, string>) =>
    ask("POST", "/w/acme/jobs/run/preview", { content: "export const main = () => 1;", modules });
  const many = Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`f/a/m${n}`, ""]));
  for (const modules of [
    many,
    { "../../etc/x": "" },
    { "f/a/../../x": "" },
    { "f/a/b": "x".repeat(10_000_001) },
  ]) {
    const answer = await run(modules);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("modules");
  }
}, 60_000);
