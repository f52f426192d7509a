/**
 * Processes started by scripts end even if their server and its watchdog are killed together: on the compiled
 * executable.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { processesOf, until } from "../executable.ts";
import { type Started, startVariant, variants } from "../variants.ts";

const started: Started[] = [];
afterEach(() => {
  for (const { place } of started.splice(0)) place.remove();
});

/** Each escapes from its parent in another way, and would last a minute. */
const AWAY = `setsid sleep MARK.1 &
  (setsid bash -c 'cd / && exec sleep MARK.2' &)
  (cd / && setsid env -i sleep MARK.3 &)
  sleep MARK.4`;

const found = variants();
if (found.length === 0) test.skip("tests of leftover processes run on Linux", () => {});

describe.each(found)("for a server of $name", (variant) => {
  test("processes of a killed server end with it, or at the next start", async () => {
    const here = await startVariant(variant);
    started.push(here);
    const mark = `6${Math.floor(Math.random() * 1e8)}`;
    await here.scripts.deploy("away", AWAY.replaceAll("MARK", mark), { language: "bash" });
    await here.scripts.ask("POST", "/jobs/run/p/u/ann/away", {});
    const anySleeps = async () =>
      (await processesOf(`sleep ${mark}`)).filter((line) => !/setsid|bash|bwrap/.test(line));
    const all = async () => ((await anySleeps()).length === 4 ? anySleeps() : undefined);
    // The processes of this server, since the next one runs the job again.
    const first = new Set(await until(all, "all to be there"));
    const sleeps = async () => (await anySleeps()).filter((line) => first.has(line));
    const watchdogs = (await processesOf("watchdog.js")).filter((line) => line.includes(here.place.folder));
    expect(watchdogs).toHaveLength(1);
    // Stopped first, so that it cannot start another watchdog.
    here.server.process.kill("SIGSTOP");
    process.kill(Number(watchdogs[0]!.trim().split(" ")[0]), "SIGKILL");
    here.server.process.kill("SIGKILL");
    await here.server.process.exited;
    const left = async (most: number) => {
      const isLess = async () => ((await sleeps()).length <= most ? true : undefined);
      return until(isLess, `no more than ${most} to be left`);
    };
    // In bubblewrap all processes end with the server; otherwise the next start ends those without a watchdog.
    if (variant.name.endsWith("in bubblewrap")) expect(await left(0)).toBe(true);
    await here.again("SIGKILL");
    // A process of the server's user that changed its folder and environment cannot be told from others of that
    // user.
    const unmarked = variant.isRoot || variant.name.endsWith("in bubblewrap") ? 0 : 1;
    expect((await sleeps()).length).toBeLessThanOrEqual(unmarked);
    for (const line of await sleeps()) process.kill(Number(line.trim().split(" ")[0]), "SIGKILL");
    await here.scripts.deploy("fine", "export const main = () => 42");
    expect(await here.scripts.run<number>("fine")).toBe(42);
  }, 60_000);
});
