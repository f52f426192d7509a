/** Packages of Python scripts: resolved at deploy, locked, installed once, by the real pip from a local index. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ask, deploy, startTestServer, type TestServer } from "../../support/harness.ts";
import { installClients } from "../../support/peers/packages/package-clients.ts";
import { type PackageIndex, startPackageIndex } from "../../support/peers/packages/package-index.ts";

let server: TestServer;
let ask: Ask;
let index: PackageIndex;

beforeAll(async () => {
  index = await startPackageIndex([
    { name: "greeting", version: "1.0.0" },
    { name: "greeting", version: "1.2.0", requires: ["polite-words>=2"] },
    { name: "polite-words", version: "2.1.0", files: { "polite_words.py": "WORD = 'please'\n" } },
    { name: "PyYAML", version: "6.0.0", files: { "yaml/__init__.py": "def safe_load(text): return text\n" } },
    {
      name: "wmill",
      version: "1.500.0",
      files: { "wmill.py": "def get_workspace(): return 'from the lock'\n" },
    },
    {
      name: "google-cloud-storage",
      version: "3.0.0",
      files: { "google/cloud/storage/__init__.py": "class Client: pass\n" },
    },
  ]);
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await server.operator("POST", "/settings/global/pip_index_url", { value: index.url });
});
afterAll(async () => {
  await server.stop();
  await index[Symbol.asyncDispose]();
});

async function deployed(path: string, content: string, more: object = {}) {
  const hash = await deploy(ask, "acme", path, content, { language: "python3", ...more });
  const { json } = await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`);
  return json<{ lock?: string; lock_error_logs?: string }>();
}

const run = async (path: string, args = {}) =>
  (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, args)).json();

const names = (lock: string | undefined) =>
  (lock ?? "").split("\n").map((line) => line.replace(/ --hash=sha256:[0-9a-f]{64}$/, " +hash"));

describe("required packages", () => {
  const python = /^# py: 3\.\d+$/;
  const cases: [name: string, content: string, lock: string[], result: unknown][] = [
    [
      "follows from its imports, with what these need",
      "import os\nimport greeting\nimport polite_words\ndef main(): return greeting.VERSION + polite_words.WORD",
      ["greeting==1.2.0 +hash", "polite-words==2.1.0 +hash"],
      "1.2.0please",
    ],
    [
      "has another name than its module",
      "import yaml\ndef main(): return yaml.safe_load('x')",
      ["PyYAML==6.0.0 +hash"],
      "x",
    ],
    [
      "may be one of many that share a namespace",
      "from google.cloud import storage\ndef main(): return storage.Client.__name__",
      ["google-cloud-storage==3.0.0 +hash"],
      "Client",
    ],
    [
      "is a list in a comment, instead of the imports",
      "# requirements:\n# greeting==1.0.0\nimport greeting\ndef main(): return greeting.VERSION",
      ["greeting==1.0.0 +hash"],
      "1.0.0",
    ],
    [
      "is a list in a comment, beside the imports",
      "#extra_requirements:\n#polite-words\nimport yaml\ndef main():\n  import polite_words as p\n  return p.WORD",
      ["polite-words==2.1.0 +hash", "PyYAML==6.0.0 +hash"],
      "please",
    ],
    [
      "is inline script metadata (PEP 723)",
      '# /// script\n# requires-python = ">=3.8"\n# dependencies = [\n#   "greeting<1.1",\n# ]\n# ///\nimport greeting\ndef main(): return greeting.VERSION',
      ["greeting==1.0.0 +hash"],
      "1.0.0",
    ],
    [
      "is pinned beside its import",
      "import greeting  # pin: greeting==1.0.0\ndef main(): return greeting.VERSION",
      ["greeting==1.0.0 +hash"],
      "1.0.0",
    ],
  ];
  test.each(cases)(
    "%s",
    async (name, content, lock, result) => {
      const path = `u/admin/${name.replace(/\W+/g, "_").slice(0, 30)}`;
      const status = await deployed(path, content);
      const [first, ...packages] = names(status.lock);
      expect(first).toMatch(python);
      expect(packages).toEqual(lock);
      expect(await run(path)).toEqual(result);
    },
    60_000,
  );
});

test("an index may answer in JSON", async () => {
  await server.operator("POST", "/settings/global/pip_index_url", { value: index.json_url });
  try {
    const content =
      "# requirements:\n# greeting==1.0.0\nimport greeting\ndef main(): return greeting.VERSION";
    const { lock } = await deployed("u/admin/json_index", content);
    expect(lock).toContain("greeting==1.0.0");
    expect(await run("u/admin/json_index")).toBe("1.0.0");
    expect(index.asked).toContain("/json/greeting/");
  } finally {
    await server.operator("POST", "/settings/global/pip_index_url", { value: index.url });
  }
});

test("a script with only standard library and client module needs no lock", async () => {
  const content = "import json, wmill\nfrom f.lib import x as y\ndef main(): return 1";
  const answer = await ask("POST", "/w/acme/scripts/create", {
    path: "u/admin/plain",
    content: content.replace("from f.lib import x as y\n", ""),
    language: "python3",
  });
  const status = await ask("GET", `/w/acme/scripts/deployment_status/h/${answer.text}`);
  expect(status.json()).toMatchObject({ lock: "" });
});

test("a client's lock is used unchanged, and its wmill replaces the built-in one", async () => {
  const lock = "# py: 3.11\ngreeting==1.0.0\nwmill==1.500.0";
  const content = "import greeting, wmill\ndef main(): return [greeting.VERSION, wmill.get_workspace()]";
  expect((await deployed("u/admin/with_lock", content, { lock })).lock).toBe(lock);
  expect(await run("u/admin/with_lock")).toEqual(["1.0.0", "from the lock"]);
}, 60_000);

test("a lock with hashes installs exactly the named files", async () => {
  const lock = `# py: 3.11\ngreeting==1.0.0 --hash=sha256:${"0".repeat(64)}`;
  const content = "import greeting\ndef main(): return greeting.VERSION";
  await deployed("u/admin/bad_hash", content, { lock });
  expect(await run("u/admin/bad_hash")).toMatchObject({
    error: { name: "DependencyError", message: expect.stringContaining("HASHES") },
  });
}, 60_000);

test("a missing package is an error of the deployment that names it", async () => {
  const { lock, lock_error_logs } = await deployed(
    "u/admin/missing",
    "import no_such_thing\ndef main(): pass",
  );
  expect(lock).toBeUndefined();
  expect(lock_error_logs).toContain("no-such-thing");
}, 60_000);

test("an unreachable index is reported once, instead of pip's retries", async () => {
  await server.operator("POST", "/settings/global/pip_index_url", { value: "http://127.0.0.1:9/simple/" });
  try {
    const { lock, lock_error_logs = "" } = await deployed(
      "u/admin/offline",
      "import greeting\ndef main(): pass",
    );
    expect(lock).toBeUndefined();
    expect(lock_error_logs).toMatch(
      /^[^;\n]*could not be resolved or installed: the package index cannot be reached \(Connection refused\); /m,
    );
    expect(lock_error_logs.match(/Retrying/g)?.length ?? 0).toBeLessThanOrEqual(1);
  } finally {
    await server.operator("POST", "/settings/global/pip_index_url", { value: index.url });
  }
}, 60_000);

test("the password of an index is in no lock, log or response", async () => {
  await using secret = await startPackageIndex([{ name: "private-thing", version: "7.0" }], "hunter2");
  const url = `http://ann:hunter2@127.0.0.1:${secret.port}/simple/`;
  await server.operator("POST", "/settings/global/pip_extra_index_url", { value: url });
  try {
    const status = await deployed(
      "u/admin/private",
      "import private_thing\ndef main(): return private_thing.VERSION",
    );
    expect(names(status.lock).slice(1)).toEqual(["private-thing==7.0 +hash"]);
    expect(await run("u/admin/private")).toBe("7.0");
    const jobs = await ask("GET", "/w/acme/jobs/list?job_kinds=dependencies&per_page=100");
    for (const { id } of jobs.json()) {
      expect((await ask("GET", `/w/acme/jobs_u/get/${id}`)).text).not.toContain("hunter2");
    }
  } finally {
    await server.operator("POST", "/settings/global/pip_extra_index_url", { value: null });
  }
}, 60_000);

test("previews and flow steps get their packages too", async () => {
  const content = "import greeting\ndef main(): return greeting.VERSION";
  const preview = await ask("POST", "/w/acme/jobs/run_wait_result/preview", {
    content,
    language: "python3",
    args: {},
  });
  expect(preview.json()).toBe("1.2.0");
  const value = {
    modules: [{ id: "a", value: { type: "rawscript", language: "python3", content, input_transforms: {} } }],
  };
  const flow = await ask("POST", "/w/acme/jobs/run_wait_result/preview_flow", { value, args: {} });
  expect(flow.json()).toBe("1.2.0");
}, 60_000);

test("a lock is installed once for all versions that share it", async () => {
  const content = "import greeting\ndef main(): return greeting.VERSION";
  await run("u/admin/once_a").catch(() => undefined);
  await deployed("u/admin/once_a", content);
  await run("u/admin/once_a");
  const before = index.asked.filter((path) => path.startsWith("/files/")).length;
  const { lock } = await deployed("u/admin/once_b", `${content}  # other`);
  const resolved = index.asked.filter((path) => path.startsWith("/files/")).length;
  expect(await run("u/admin/once_b")).toBe("1.2.0");
  expect(index.asked.filter((path) => path.startsWith("/files/")).length).toBe(resolved);
  expect([lock === undefined, before > 0]).toEqual([false, true]);
}, 60_000);

describe("Python of another version than the server's", () => {
  test.each([
    ["Python 2", 'def main(x):\n    print "hello"\n    return x'],
    ["a version to come", "# py: 3.99\ndef main(x):\n    return x ?? 1"],
  ])("%s can be deployed, with the arguments of main", async (name, content) => {
    const path = `u/admin/${name.replace(/\W+/g, "_").toLowerCase()}`;
    await deployed(path, content);
    const { schema } = (await ask("GET", `/w/acme/scripts/get/p/${path}`)).json();
    expect(schema.required).toEqual(["x"]);
    expect(await run(path, { x: 1 })).toMatchObject({ error: { name: "SyntaxError" } });
  });

  const current = Bun.spawnSync(["python3", "-c", "import sys; print(sys.version_info[1])"]);
  const others = Array.from({ length: 8 }, (_, at) => 8 + at).filter(
    (minor) => String(minor) !== current.stdout.toString().trim(),
  );
  const other = others.find((minor) => Bun.spawnSync(["sh", "-c", `python3.${minor} -V`]).exitCode === 0);
  test.skipIf(other === undefined).each([`# py: >=3.${other}`, `# py: 3.${other}`, `# py3${other}`])(
    "if installed, %s runs by it",
    async (line) => {
      const path = `u/admin/version_${line.replace(/\W/g, "")}`;
      const content = `${line}\nimport sys, greeting\ndef main(): return sys.version_info[1]`;
      const { lock } = await deployed(path, content);
      expect(lock).toContain(`# py: 3.${other}`);
      expect(await run(path)).toBe(other);
    },
  );

  test("and errors are reported with line and column", async () => {
    const { lock_error_logs } = await deployed("u/admin/typo", "def main(:\n  pass");
    expect(lock_error_logs).toContain("line 1, column");
  });
});

test("installed packages belong to the server, readable for all and writable for nobody else", async () => {
  const content = `import os, greeting
def main():
    found = []
    folder = os.path.dirname(greeting.__file__)
    for top, folders, files in os.walk(folder):
        found += [os.lstat(os.path.join(top, name)) for name in files + folders]
    return [len(found) > 2, sorted({each.st_uid for each in found}), [each.st_mode for each in found if each.st_mode & 0o022]]`;
  await deployed("u/admin/owners", content);
  expect(await run("u/admin/owners")).toEqual([true, [process.geteuid!()], []]);
});

/** A minimal uv: its package contains what it received. */
const UV = `#!/bin/sh
case "$2" in
  compile) echo "seen==1.0" > requirements.txt ;;
  *) echo "SEEN = '$(cat "$SSL_CERT_FILE" "$SSL_CERT_DIR/ca.pem" FOLDER/tools/secret FOLDER/links/secret)'" > made/packages/seen.py ;;
esac
`;

test("uv in a user's folder is run, and reads the certificates in its settings, but no other files", async () => {
  const { PATH, SSL_CERT_FILE, SSL_CERT_DIR } = process.env;
  using clients = installClients({ uv: UV });
  const certificates = join(clients.folder, "certificates.pem");
  writeFileSync(certificates, "certificates");
  const more = join(clients.folder, "more");
  mkdirSync(more);
  writeFileSync(join(more, "ca.pem"), " in folders");
  Object.assign(process.env, { PATH: clients.path, SSL_CERT_FILE: certificates, SSL_CERT_DIR: more });
  try {
    await deployed("u/admin/by_uv", "# requirements:\n# seen\nimport seen\ndef main(): return seen.SEEN");
    expect(await run("u/admin/by_uv")).toBe("certificates in folders");
  } finally {
    process.env.PATH = PATH;
    for (const [name, before] of Object.entries({ SSL_CERT_FILE, SSL_CERT_DIR })) {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    }
  }
});
