/** `svc dev`: a file is run each time it is saved. */
import { expect, test } from "bun:test";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { startTestServer, until } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment, start } from "../../program.ts";

const save = (place: CliEnvironment, content: string) => place.file("hello.ts", content);
const says = (text: string) =>
  `export const main = (name: string) => { console.log("${text}"); return { ${text}: name }; };`;

test("each save runs it again, with its log and result; errors are shown, and the next save can fix them", async () => {
  using place = createCliEnvironment();
  await save(place, says("one"));
  using going = start(place, ["dev", "hello.ts", "name=1234", "-d", '{"name":"Ann"}']);
  await going.says('"one": "1234"');
  await save(place, says("two"));
  await going.says('"two": "1234"');
  await save(place, "export const main = (");
  await going.says("hello.ts:1:22: syntax error: ");
  await save(place, 'export const main = () => { throw new TypeError("no tea"); };');
  await going.says("error: TypeError: no tea\n");
  // As many editors do: the new file replaces the old one.
  await place.file("hello.ts~", says("three"));
  renameSync(join(place.folder, "hello.ts~"), join(place.folder, "hello.ts"));
  await going.says('"three": "1234"');
  going.child.kill("SIGINT");
  const { code, err } = await going.ended();
  expect({ code, logged: err.match(/^(one|two|three)$/gm) }).toEqual({
    code: 0,
    logged: ["one", "two", "three"],
  });
}, 60_000);

test("a run that has not ended when the file is saved again is canceled", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace();
  const ended = join(place.folder, "ended");
  await save(
    place,
    `export const main = async () => { console.log("begun"); await Bun.sleep(60_000); await Bun.write(${JSON.stringify(ended)}, ""); };`,
  );
  using going = start(place, ["dev", "hello.ts"], { SVC_WORKSPACE: "acme" });
  await going.says("begun");
  await save(place, "export const main = () => 7;");
  await going.says("7\n");
  const jobs = await until(async () => {
    const found = (await ask("GET", "/w/acme/jobs/completed/list")).json();
    return found.length === 2 ? found : undefined;
  }, "both jobs");
  expect(jobs.map(({ canceled }: { canceled: boolean }) => canceled).sort()).toEqual([false, true]);
  expect(existsSync(ended)).toBe(false);
  going.child.kill("SIGINT");
  await going.ended();
}, 60_000);

test("a missing file is reported at once", async () => {
  using place = createCliEnvironment();
  expect(await place.svc(["dev", "none.ts"])).toEqual({
    code: 2,
    out: "",
    err: "error: there is no file none.ts\n",
  });
});
