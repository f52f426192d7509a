/** Completion of command lines: the candidates, and that shells accept them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { deploy, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";
import { createCliEnvironment } from "../program.ts";

const JOB = "01890a5d-ac96-774b-bcce-b302099a8057";
const place = createCliEnvironment();
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace();
  await deploy(ask, "acme", "u/admin/hello", "export const main = () => 1", { summary: "Says: hello" });
  await deploy(ask, "acme", "u/admin/help", "export const main = () => 1");
  await expectOk(ask("POST", `/w/acme/jobs/run/p/u/admin/hello?job_id=${JOB}`, {}));
  await ask("POST", "/w/acme/variables/create", {
    path: "u/admin/key",
    value: "k",
    is_secret: true,
    description: "",
  });
  await place.file("svc", `#!/bin/sh\nexec ${place.program.join(" ")} "$@"\n`);
  chmodSync(join(place.folder, "svc"), 0o755);
  await place.file("notes.txt", "");
}, 60_000);
afterAll(async () => {
  await server.stop();
  place[Symbol.dispose]();
});

/** The words, of which the last is being typed, and the expected candidates. */
const LINES: [words: string[], offered: string[]][] = [
  [["pu"], ["pull", "push"]],
  [["trigger", "w"], ["websocket"]],
  [["trigger", "http", "cr"], ["create"]],
  [
    ["push", "--d"],
    ["--dry-run", "--delete", "--data-dir"],
  ],
  [
    ["push", "--delete", "--d"],
    ["--dry-run", "--data-dir"],
  ],
  [
    ["push", "--secrets", ""],
    ["sealed", "plain"],
  ],
  [["push", "--secrets=p"], ["--secrets=plain"]],
  [["push", "--secrets", "=", "p"], ["plain"]],
  [
    ["completion", ""],
    ["bash", "zsh", "fish"],
  ],
  [
    ["script", "show", "u/admin/hel"],
    ["u/admin/help", "u/admin/hello"],
  ],
  [["script", "show", "--workspace", "acme", "u/admin/hell"], ["u/admin/hello"]],
  [["schedule", "create", "u/admin/x", "0 3 * * *", "u/admin/hell"], ["u/admin/hello"]],
  [["run", "--workspace", "none", "u/"], []],
  [["variable", "get", ""], ["u/admin/key"]],
  [["script", "list", "--workspace", ""], ["acme"]],
  [["workspace", "get", "a"], ["acme"]],
  [["push", ""], []],
  [
    ["folder", "set-perm", "data", "g/all", ""],
    ["read", "write", "none"],
  ],
  [["config", "set", "base_u"], ["base_url"]],
  [
    ["workspace", "settings", "set", "acme", "error_handler_m"],
    ["error_handler_muted_on_cancel", "error_handler_muted_on_user_path"],
  ],
  [["job", "get", ""], [JOB]],
  [["run", "--data", ""], []],
  [["frobnicate", ""], []],
];

test.each(LINES)("svc %j", async (words, offered) => {
  const { code, out, err } = await place.svc(["__complete", "--", ...words]);
  const texts = out
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split("\t")[0]!);
  expect({ code, err, texts: texts.sort() }).toEqual({ code: 0, err: "", texts: [...offered].sort() });
});

test("a data directory without a server is not opened", async () => {
  using other = createCliEnvironment();
  const { code, out, err } = await other.svc(["__complete", "--", "script", "show", ""]);
  expect({ code, out, err, made: await Bun.file(join(other.data_dir, "svc.lock")).exists() }).toEqual({
    code: 0,
    out: "",
    err: "",
    made: false,
  });
});

/** Each shell runs the printed script, and completes as with Tab. */
const SHELLS: Record<string, { check: string; complete: (line: string) => string }> = {
  bash: {
    check: 'eval "$(svc completion bash)"; complete -p svc',
    complete: (line) => `eval "$(svc completion bash)"
COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _svc_complete; printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  fish: {
    check: "svc completion fish | fish --no-execute",
    complete: (line) => `svc completion fish | source; complete -C '${line}' | string split -f1 \\t`,
  },
  zsh: {
    check: "svc completion zsh | zsh -n",
    complete: (line) => `compdef() { :; }; eval "$(svc completion zsh)"
_describe() { printf '%s\\n' "\${(@)found%%:*}"; }; _files() { print -l -- *; }
words=(${line}); CURRENT=\${#words}; _svc`,
  },
};

describe.each(Object.keys(SHELLS))("%s", (shell) => {
  const run = async (script: string) => {
    const PATH = `${place.folder}:${place.environment.PATH}`;
    const env = { ...place.environment, PATH };
    const child = Bun.spawn([shell, "-c", script], {
      cwd: place.folder,
      env,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { out, err };
  };
  const { check, complete } = SHELLS[shell]!;

  test.skipIf(!Bun.which(shell))(
    "accepts the script, and offers the same candidates",
    async () => {
      expect((await run(check)).err).toBe("");
      const offered = async (line: string) => (await run(complete(line))).out.trim().split("\n").sort();
      expect(await offered("svc pu")).toEqual(["pull", "push"]);
      expect(await offered("svc script show u/admin/hel")).toEqual(["u/admin/hello", "u/admin/help"]);
    },
    60_000,
  );
});
