/** Secrets that a job has read are masked in its log and result stream, however they are printed. */
import { describe, expect, test } from "bun:test";
import { asc, eq } from "drizzle-orm";
import { stripLogHeader } from "../../../../src/features/runs/job/log-header.ts";
import { jobStreams } from "../../../../src/platform/queue/tables.ts";
import { deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";
import { readStored } from "../../../support/stored.ts";
import {
  ask,
  BASH_READ,
  deployNew,
  eventsOf,
  logOf,
  PYTHON_READ,
  READ_FUNCTION,
  run,
  runNew,
  SECRET,
  server,
  setUpSecrets,
  storeVariable,
} from "./secrets-setup.ts";

setUpSecrets();

describe("a secret that a job has read", () => {
  const printing: [language: string, content: string, log: string][] = [
    [
      "bun",
      `${READ_FUNCTION} export async function main() {
        const secret = await read("secret");
        console.log("one", secret, "two", secret + secret);
        console.log(JSON.stringify({ secret }), [secret]);
        console.log(await read("plain"));
      }`,
      'one ***** two *****\n{"secret":"*****"} [ "*****" ]\nno secret at all\n',
    ],
    [
      "python3",
      `${PYTHON_READ}
def main():
    secret = read("secret")
    print("one", secret, "two", secret + secret)
    print(json.dumps({"secret": secret}))
    print(read("plain"))`,
      'one ***** two *****\n{"secret": "*****"}\nno secret at all\n',
    ],
    ["bash", `${BASH_READ}\necho "one $secret two $secret$secret"\necho done`, "one ***** two *****\ndone\n"],
  ];
  test.each(printing)("is masked in the log of %s", async (language, content, log) => {
    expect((await runNew(content, language)).log).toBe(log);
  });

  const inPieces: [language: string, content: string][] = [
    [
      "bun",
      `${READ_FUNCTION} export async function main() {
        const secret = await read("secret");
        for (const pause of [0, 1, 130]) {
          for (const letter of "<" + secret + ">") {
            process.stdout.write(letter);
            await Bun.sleep(pause);
          }
        }
      }`,
    ],
    [
      "python3",
      `${PYTHON_READ}
def main():
    secret = read("secret")
    for pause in [0, 0.001, 0.13]:
        for letter in "<" + secret + ">":
            sys.stdout.write(letter)
            sys.stdout.flush()
            time.sleep(pause)`,
    ],
    [
      "bash",
      `${BASH_READ}
for pause in 0 0.001 0.13; do
  for piece in "<" "\${secret:0:1}" "\${secret:1:6}" "\${secret:7}" ">"; do
    printf '%s' "$piece"
    sleep "$pause"
  done
done`,
    ],
  ];
  test.each(inPieces)("is masked in %s when it is written in parts", async (language, content) => {
    const { log } = await runNew(content, language);
    expect(log).not.toContain(SECRET);
    // After a long pause its first characters may have been printed already: at most four.
    expect(log).toMatch(/^(<\w{0,4}\*{5}>){3}$/);
  });

  test("is masked on both pipes independently", async () => {
    const { log } = await runNew(`${READ_FUNCTION} export async function main() {
      const secret = await read("secret");
      for (let at = 0; at < secret.length; at += 5) {
        process.stdout.write(secret.slice(at, at + 5));
        process.stderr.write("[" + secret.slice(at, at + 5));
        await Bun.sleep(20);
      }
      process.stderr.write(secret + "\\n");
    }`);
    expect(log.replace("*****", "")).toBe("[open-[sesam[e-471[1*****\n");
  });

  test("of several lines is masked line by line too, and inside JSON", async () => {
    const { log } = await runNew(`${READ_FUNCTION} export async function main() {
      const key = await read("key");
      console.log(JSON.stringify({ key }));
      for (const line of key.split("\\n")) console.log("> " + line);
      process.stdout.write(key.slice(0, 30));
      await Bun.sleep(150);
      process.stdout.write(key.slice(30));
    }`);
    expect(log).toBe(`{"key":"*****"}\n${"> *****\n".repeat(4)}> \n*****`);
  });

  test("stays masked in later jobs of the same process, which know it from the earlier one", async () => {
    const content = `${READ_FUNCTION} let kept = "";
      export async function main(again: boolean) {
        kept ||= await read("secret");
        console.log(again, kept);
        return process.pid;
      }`;
    const path = await deployNew(content);
    const [first, second] = [await run(path, { again: false }), await run(path, { again: true })];
    expect(second.result).toBe(first.result);
    expect([first.log, second.log]).toEqual(["false *****\n", "true *****\n"]);
  });

  test("ends its process with the job if there are very many, since each slows all output", async () => {
    for (const name of ["many_1", "many_2", "many_3"]) {
      const lines = Array.from({ length: 1_000 }, (_, n) => `${name} line ${n}`);
      await storeVariable(ask, name, lines.join("\n"));
    }
    const path = await deployNew(`${READ_FUNCTION} export async function main() {
      for (const name of ["many_1", "many_2", "many_3"]) console.log((await read(name)).slice(0, 27));
      return process.pid;
    }`);
    const [first, second] = [await run(path), await run(path)];
    expect(second.result).not.toBe(first.result);
    expect(first.log).toBe("*****\n*****\n".repeat(3));
  });

  test("is in no stored or returned data, during the job and afterwards", async () => {
    await using own = await startTestServer();
    const admin = (await own.workspace()).ask;
    await storeVariable(admin, "secret", SECRET);
    const content = `${READ_FUNCTION} export async function main() {
      const secret = await read("secret");
      console.log("before", secret);
      await Bun.sleep(700);
      console.error("after", secret);
    }`;
    await deploy(admin, "acme", "u/admin/tells", content);
    const id = (await expectOk(admin("POST", "/w/acme/jobs/run/p/u/admin/tells", {}))).text;
    const events = await eventsOf(admin("GET", `/w/acme/jobs_u/getupdate_sse/${id}?log_offset=0`));
    expect(stripLogHeader(events.map((event) => event.new_logs ?? "").join(""))).toBe(
      "before *****\nafter *****\n",
    );
    const told: string[] = [JSON.stringify(events)];
    for (const what of ["get_logs", "get", "completed/get", "getupdate"]) {
      const { text } = await expectOk(admin("GET", `/w/acme/jobs_u/${what}/${id}`));
      expect(text).toContain("after *****");
      told.push(text);
    }
    const stored = await readStored(own);
    expect(stored.includes("after *****")).toBe(true);
    expect([...told, stored].filter((text) => text.includes(SECRET)).length).toBe(0);
  });

  test("is masked before the log is truncated, so that no part of it remains", async () => {
    await using small = await startTestServer({ max_log_mb: 0.0001 });
    const admin = (await small.workspace()).ask;
    await storeVariable(admin, "secret", SECRET);
    const content = `${READ_FUNCTION} export async function main() {
      const secret = await read("secret");
      process.stdout.write("x".repeat(95) + secret);
    }`;
    await deploy(admin, "acme", "u/admin/full", content);
    await expectOk(admin("POST", "/w/acme/jobs/run_wait_result/p/u/admin/full", {}));
    const [job] = (await admin("GET", "/w/acme/jobs/list?per_page=1")).json();
    expect(stripLogHeader((await admin("GET", `/w/acme/jobs_u/get_logs/${job.id}`)).text)).toBe(
      `${"x".repeat(95)}*****`,
    );
  });
});

describe("the message of a job that crashed", () => {
  test.each([
    ["bash", `${BASH_READ}\necho "bad $secret"\nexit 7`],
    [
      "bun",
      `${READ_FUNCTION} export async function main() { console.log("bad", await read("secret")); process.exit(7) }`,
    ],
    ["python3", `${PYTHON_READ}\ndef main():\n    print("bad", read("secret"))\n    sys.exit(7)`],
  ])("shows the last lines of %s with secrets masked", async (language, content) => {
    const { result } = await runNew(content, language);
    expect(result.error.message).toContain("code 7");
    expect(result.error.message).toEndWith("its last output:\nbad *****");
  });

  test("shows a text that only looked like the beginning of a secret", async () => {
    const { result } = await runNew(`${BASH_READ}\nprintf 'the door is open'\nexit 7`, "bash");
    expect(result.error.message).toEndWith("its last output:\nthe door is open");
  });
});

describe("a result stream", () => {
  const streaming: [what: string, content: string][] = [
    [
      "of pieces",
      `${READ_FUNCTION} export async function* main() {
        const secret = await read("secret");
        for (const piece of ["<", ...secret, ">"]) yield piece;
      }`,
    ],
    [
      "of lines on stdout",
      `${READ_FUNCTION} export async function main() {
        const secret = await read("secret");
        for (const piece of ["<", secret.slice(0, 9), secret.slice(9), ">"]) console.log("WM_STREAM: " + piece);
      }`,
    ],
  ];
  test.each(streaming)("%s is masked, and so is the resulting result", async (_, content) => {
    const path = await deployNew(content);
    const events = await eventsOf(ask("POST", `/w/acme/jobs/run_and_stream/p/${path}`, {}));
    const stream = events.map((event) => event.new_result_stream ?? "").join("");
    expect(stream).toMatch(/^<\w{0,4}\*{5}>$/);
    expect(events.at(-1)!.only_result).toBe(stream);
    const [job] = (await ask("GET", `/w/acme/jobs/list?script_path_exact=${path}`)).json();
    const stored = await server.server.app.db.read
      .select()
      .from(jobStreams)
      .where(eq(jobStreams.job_id, job.id))
      .orderBy(asc(jobStreams.seq));
    expect(stored.map((piece) => piece.content).join("")).toMatch(/^<\w{0,4}\*{5}>$/);
  });

  test("and a log that end like the beginning of a secret are shown completely", async () => {
    const path = await deployNew(`${READ_FUNCTION} export async function* main() {
      await read("secret");
      console.log("the door is open-ses");
      process.stderr.write("as I said: open-ses");
      yield "open-ses";
    }`);
    const events = await eventsOf(ask("POST", `/w/acme/jobs/run_and_stream/p/${path}`, {}));
    expect(events.map((event) => event.new_result_stream ?? "").join("")).toBe("open-ses");
    const [job] = (await ask("GET", `/w/acme/jobs/list?script_path_exact=${path}`)).json();
    expect(await logOf(job.id)).toBe("the door is open-ses\nas I said: open-ses");
  });

  test("is masked also if it contains line breaks", async () => {
    const path = await deployNew(`${READ_FUNCTION} export async function main() {
      console.log("WM_STREAM: " + (await read("key")).replaceAll("\\n", "\\\\n") + "!");
    }`);
    const events = await eventsOf(ask("POST", `/w/acme/jobs/run_and_stream/p/${path}`, {}));
    expect(events.map((event) => event.new_result_stream ?? "").join("")).toBe("*****!");
  });
});

test("a prompt without a newline is shown while the job waits, even if it ends like the beginning of a secret", async () => {
  const path = await deployNew(`${READ_FUNCTION} export async function main() {
    await read("secret");
    process.stdout.write("Shall I go on, or sto");
    await Bun.sleep(60_000);
  }`);
  const id = (await expectOk(ask("POST", `/w/acme/jobs/run/p/${path}`, {}))).text;
  await until(
    async () => ((await logOf(id)) === "Shall I go on, or sto" ? true : undefined),
    "the prompt in the log",
  );
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
});

test("results are not masked: a script may return a secret, in bash by its last line", async () => {
  const returned = await runNew(`${READ_FUNCTION} export const main = () => read("secret")`);
  expect(returned.result).toBe(SECRET);
  const { result, log } = await runNew(`${BASH_READ}\necho "$secret"`, "bash");
  expect([result, log]).toEqual([SECRET, "*****\n"]);
});

test("secrets that were not read, and plain variables, are not masked", async () => {
  const { log } = await runNew(
    `${READ_FUNCTION} export async function main() { console.log("never-read-by-jobs", await read("plain")) }`,
  );
  expect(log).toBe("never-read-by-jobs no secret at all\n");
});
