/** The Containerfile contains what an image of this project needs, in instructions that image builders know. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createProgram } from "../../../cli/program.ts";
import { loadConfig, PROCESS_SETTINGS } from "../../../src/platform/config/config.ts";

const root = join(import.meta.dir, "../../..");

/** Instructions of the Dockerfile reference 1.x that this project uses. */
const KNOWN = ["ARG", "FROM", "COPY", "RUN", "USER", "WORKDIR", "VOLUME", "ENV", "EXPOSE"];
const ENDING = ["STOPSIGNAL", "ENTRYPOINT", "CMD"];

interface Instruction {
  word: string;
  rest: string;
}

function parse(text: string): Instruction[] {
  return text
    .replace(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, word = "", rest = ""] = /^(\S+)\s*(.*)$/.exec(line) ?? [];
      return { word, rest };
    });
}

/** Returns the faults of the instructions, one sentence each. */
function faults(instructions: Instruction[]): string[] {
  const found: string[] = [];
  const all = (word: string) => instructions.filter((each) => each.word === word).map(({ rest }) => rest);
  const last = (word: string) => all(word).at(-1);
  for (const { word } of instructions) {
    if (![...KNOWN, ...ENDING].includes(word)) found.push(`${word} is no known instruction`);
  }
  const defaults = new Map(all("ARG").map((arg) => arg.split("=") as [string, string]));
  for (const name of instructions
    .flatMap(({ rest }) => [...rest.matchAll(/\$\{(\w+)\}/g)])
    .map((m) => m[1]!)) {
    if (!defaults.get(name)) found.push(`${name} has no default`);
  }
  const base = last("FROM")?.replace(/\$\{(\w+)\}/g, (_, name) => defaults.get(name) ?? "") ?? "";
  if (!/^[\w./-]+:[\w.-]+$/.test(base) || base.endsWith(":latest")) found.push("the base is not one version");
  if (!/^[1-9]\d*:[1-9]\d*$/.test(last("USER") ?? "")) found.push("it runs as root, or as nobody's number");
  for (const word of ["ENTRYPOINT", "CMD"]) {
    // In shell form, the shell is process 1 and forwards no signals.
    if (!/^\[("[^"]+"(, )?)+\]$/.test(last(word) ?? "")) found.push(`${word} is not in exec form`);
  }
  for (const { word, rest } of instructions) {
    if (word === "COPY" && !/^(--chmod=0755 )?\$\{EXECUTABLE\} \//.test(rest))
      found.push(`it copies ${rest}`);
    if (/password|secret|token/i.test(rest)) found.push(`${word} holds a secret`);
  }
  return found;
}

const text = readFileSync(join(root, "Containerfile"), "utf8");
const instructions = parse(text);
const restOf = (word: string) => instructions.find((each) => each.word === word)!.rest;

describe("the Containerfile", () => {
  test("is valid", () => {
    expect(faults(instructions)).toEqual([]);
  });

  test.each([
    ["FROM ${BASE}", "FROM debian:latest", "the base is not one version"],
    ["USER 1000:1000", "USER root", "it runs as root, or as nobody's number"],
    ['CMD ["serve"]', "CMD serve", "CMD is not in exec form"],
    ["COPY --chmod=0755 ${EXECUTABLE} /", "COPY . /", "it copies . /usr/local/bin/svc"],
    ["VOLUME /data", "VOLUMES /data", "VOLUMES is no known instruction"],
    ["ENV HOME=/data", "ENV SVC_TOKEN=abc", "ENV holds a secret"],
  ])("%s is not %s", (right, wrong, fault) => {
    expect(text).toContain(right);
    expect(faults(parse(text.replace(right, wrong)))).toEqual([fault]);
  });

  test("sets data directory and address: the data in the volume, reachable from the container's network", () => {
    const environment = Object.fromEntries(
      restOf("ENV")
        .split(" ")
        .map((each) => each.split("=")),
    );
    const { HOME, ...settings } = environment;
    const config = loadConfig({}, settings);
    expect(config.data_dir).toBe(restOf("VOLUME"));
    expect([HOME, restOf("WORKDIR")]).toEqual([config.data_dir, config.data_dir]);
    expect(config.host).toBe("0.0.0.0");
    expect(String(config.port)).toBe(restOf("EXPOSE"));
    const read = Object.values(config.sources).filter((source) => source === "environment");
    expect(read).toHaveLength(Object.keys(settings).length);
  });

  test("starts the server", () => {
    const [command] = JSON.parse(restOf("CMD"));
    expect(command).toBe("serve");
    const target = restOf("COPY").split(" ").at(-1);
    expect(JSON.parse(restOf("ENTRYPOINT"))).toEqual([target]);
  });

  test("names existing settings and commands in its examples", async () => {
    const commands = (await createProgram(["--help"])).commands.map((each) => each.name());
    const known = (name: string) => [...commands, ""].includes(name);
    const settings = new Set<string>(Object.values(PROCESS_SETTINGS).map(({ variable }) => variable));
    const runs = [...text.matchAll(/^# +podman run (.*?) svc ?(\S*)$/gm)].map(([, options, command]) => ({
      passed: [...options!.matchAll(/-e (\w+)/g)].map((match) => match[1]!),
      command: command!,
    }));
    expect(runs.map(({ command }) => command)).toEqual(["", "", "worker", "doctor"]);
    for (const { passed, command } of runs) {
      expect(passed.filter((name) => !settings.has(name))).toEqual([]);
      expect([command, known(command)]).toEqual([command, true]);
    }
    // A server that shares a database needs both.
    for (const { passed } of runs.slice(1, 3)) expect(passed).toEqual(["DATABASE_URL", "SVC_SECRET_KEY"]);
  });

  test("copies the executable and nothing else", () => {
    const ignored = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
    const rules = ignored.filter((line) => line !== "" && !line.startsWith("#"));
    expect(rules).toEqual(["*", "!dist/svc*"]);
  });
});
