/** Every command of the README and of the reference is run, in the order of the page, and prints what is shown there. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../support/harness.ts";
import { type PostgresServer, startPostgres } from "../../support/peers/postgres-server.ts";
import { isOffline } from "../clients/registry.ts";
import { installWmill } from "../clients/wmill/wmill.ts";
import { type Block, blocksOf } from "./blocks.ts";
import { createReader, INSTALL_LIMIT_MS, type Reader } from "./reader.ts";

/** Commands that cannot be run in a test, by their beginning, with the reason. */
const NOT_RUN: Record<string, string> = {
  "npm install && npx bun run check": "it is the whole of the tests, this one among them",
  "sudo install": "it changes the machine, and needs systemd",
  "npx bun run build --target linux-x64\npodman build": "it needs an engine of containers",
};

/** What a long-running command prints once it is ready, by a part of the command. */
const GOES_ON: Record<string, string> = {
  "bun run demo": "Ctrl-C stops the server",
  "svc dev": '"message": "Hello, Bob!"',
  "svc serve": "svc listens on",
  "svc worker": "takes jobs tagged gpu",
};

const SYSTEMD: [string, string][] = existsSync("/run/systemd/system")
  ? [["Start it with the machine", ""]]
  : [];

/** Questions at the terminal and their answers, by the beginning of the command. Port 0 is any free port. */
const ANSWERS: Record<string, [question: string, answer: string][]> = {
  "svc init": [
    ["Data directory", ""],
    ["Listen on", "127.0.0.1:0"],
    ["E-mail of the admin", "ann@example.org"],
    ["Password of the admin", "correct-horse"],
    ["The same once more", "correct-horse"],
    ["First workspace", "acme"],
    ...SYSTEMD,
  ],
  "svc login": [["Password", "correct-horse"]],
};

/**
 * Size limit of an executable for linux-x64 and similar that a command of the page built, of which Bun's
 * runtime is 100 MB.
 */
const MOST_BYTES = 140_000_000;

const find = <T>(table: Record<string, T>, fits: (key: string) => boolean) =>
  Object.entries(table).find(([key]) => fits(key))?.[1];

const reader: Reader = createReader();
const DATABASE = "postgres://svc@db.example.org/svc";
/** Starts while the first commands run. */
const postgres: Promise<PostgresServer> = startPostgres();
/** The server that `svc init` left running. */
let pid: number | undefined;

afterAll(async () => {
  if (pid !== undefined) await end(pid);
  await (await postgres).stop();
  reader[Symbol.dispose]();
}, 60_000);

async function end(process_id: number): Promise<void> {
  process.kill(process_id, "SIGTERM");
  // If its parent never waits for it, its process id stays, as a zombie.
  const isUp = () => {
    try {
      const stat = readFileSync(`/proc/${process_id}/stat`, "utf8");
      return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
    } catch {
      return false;
    }
  };
  await until(() => !isUp() || undefined, "the end of the server");
}

async function follow({ text, output }: Block): Promise<void> {
  await databaseFor(text);
  const { code, out, err } = await reader.run(text);
  expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
  if (output !== undefined) expect(out.trim().slice(-output.length)).toBe(output);
}

async function answer({ text }: Block): Promise<void> {
  const shown = await reader.type(text, find(ANSWERS, (key) => text.startsWith(key)) ?? []);
  const [, url, process_id] = /svc runs on (\S+), as process (\d+)/.exec(shown) ?? [];
  if (url === undefined) return;
  pid = Number(process_id);
  reader.here.push(["http://127.0.0.1:8000", url], ["https://svc.example.org", url]);
}

async function moveOver({ text }: Block): Promise<void> {
  await using wmill = await installWmill("1.819.0");
  const folder = await wmill.folder("moved");
  const commands = `PATH="${join(folder, "../node_modules/.bin")}:$PATH"\n${text}`;
  const { code, out, err } = await reader.run(commands, folder);
  expect({ code, said: code === 0 ? "" : out + err }).toEqual({ code: 0, said: "" });
}

for (const file of ["README.md", "src/REFERENCE.md"]) {
  describe(file, () => {
    for (const block of blocksOf(file)) {
      const name = `line ${block.line}, ${block.heading}`;
      if (block.word?.includes(".")) {
        test(`${name}: ${block.word}`, () => reader.save(block.word!, block.text));
      } else if (block.language === "sh") declare(name, block);
    }
  });
}

/** Only commands that use the database wait for it. */
async function databaseFor(text: string): Promise<void> {
  if (!text.includes(DATABASE) || reader.here.some(([page]) => page === DATABASE)) return;
  reader.here.push([DATABASE, (await postgres).url]);
}

function declare(name: string, block: Block): void {
  const { word, text } = block;
  if (word === "no-run") {
    test(`${name}: there is a reason not to run it`, () => {
      expect(find(NOT_RUN, (key) => text.startsWith(key))).toBeString();
    });
  } else if (word === "goes-on") {
    const sign = find(GOES_ON, (key) => text.includes(key));
    const watch = () => databaseFor(text).then(() => reader.watch(text, sign!));
    test(name, watch, 2 * INSTALL_LIMIT_MS);
  } else if (word === "wmill") test.skipIf(isOffline)(name, () => moveOver(block), 2 * INSTALL_LIMIT_MS);
  else test(name, () => (word === "typed" ? answer(block) : follow(block)), INSTALL_LIMIT_MS);
}

test("the executable is not larger than its limit", () => {
  expect(statSync(join(reader.folder, "dist/svc")).size).toBeLessThan(MOST_BYTES);
});
