/** Python packages from folders on the server: of wheels, and of indexes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Ask,
  createTemporaryFolder,
  deploy,
  startTestServer,
  type TestServer,
} from "../../support/harness.ts";
import { buildWheels } from "../../support/peers/packages/package-index.ts";

let server: TestServer;
let ask: Ask;
let folder: string;

beforeAll(async () => {
  // Its name needs escapes in URLs.
  folder = createTemporaryFolder("svc-wheels-ä-");
  for (const name of ["wheels", "index/local-thing", "mirror/local-thing", "files"])
    mkdirSync(join(folder, name), { recursive: true });
  await buildWheels(join(folder, "wheels"), [{ name: "local-thing", version: "1.0" }]);
  // For Pythons of long ago, whose modules they were later.
  const outdated = ["asyncio", "uuid"].map((name) => ({
    name,
    version: "1.0",
    files: { [`${name}.py`]: `raise ImportError("${name} of a wheel")\n` },
  }));
  await buildWheels(join(folder, "wheels"), outdated);
  await buildWheels(join(folder, "index/local-thing"), [{ name: "local-thing", version: "2.0" }]);
  const wheel = "local_thing-2.0-py3-none-any.whl";
  writeFileSync(join(folder, "index/local-thing/index.html"), `<a href="${wheel}">${wheel}</a>`);
  await buildWheels(join(folder, "files"), [{ name: "local-thing", version: "3.0" }]);
  const linked = "local_thing-3.0-py3-none-any.whl";
  writeFileSync(
    join(folder, "mirror/local-thing/index.html"),
    `<a href="../../files/${linked}">${linked}</a>`,
  );
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const set = (name: string, value: string | null) =>
  server.operator("POST", `/settings/global/${name}`, { value });

async function deployed(path: string, content: string, more: object = {}) {
  const hash = await deploy(ask, "acme", path, content, { language: "python3", ...more });
  const { json } = await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`);
  return json<{ lock?: string; lock_error_logs?: string }>();
}

const run = async (path: string) => (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {})).json();

const NOTHING = "file:///svc-no-such-index/";
const CONTENT = "import local_thing\ndef main(): return local_thing.VERSION";

describe("packages are installed from a folder of the server", () => {
  const cases: [name: string, settings: () => Record<string, string>, version: string][] = [
    [
      "that the settings name by its path",
      () => ({ pip_find_links: join(folder, "wheels"), pip_index_url: NOTHING }),
      "1.0",
    ],
    [
      "that the settings name by a URL",
      () => ({ pip_find_links: pathToFileURL(join(folder, "wheels")).href, pip_index_url: NOTHING }),
      "1.0",
    ],
    ["that is an index", () => ({ pip_index_url: pathToFileURL(join(folder, "index")).href }), "2.0"],
    [
      "that is a further index",
      () => ({
        pip_index_url: NOTHING,
        pip_extra_index_url: pathToFileURL(`${join(folder, "index")}/`).href,
      }),
      "2.0",
    ],
    [
      "that an index links to, if a setting names it",
      () => ({
        pip_index_url: pathToFileURL(join(folder, "mirror")).href,
        pip_find_links: join(folder, "files"),
      }),
      "3.0",
    ],
  ];
  test.each(cases)(
    "%s",
    async (name, settings, version) => {
      for (const [setting, value] of Object.entries(settings())) await set(setting, value);
      try {
        const path = `u/admin/${name.replace(/\W+/g, "_")}`;
        const status = await deployed(path, `${CONTENT}  # ${name}`);
        expect(status.lock_error_logs ?? "").toBe("");
        expect(status.lock).toContain(`local-thing==${version}`);
        expect(await run(path)).toBe(version);
      } finally {
        for (const setting of Object.keys(settings())) await set(setting, null);
      }
    },
    60_000,
  );
});

test("a package client does not read a folder through a link", async () => {
  await set("pip_index_url", pathToFileURL(join(folder, "mirror")).href);
  try {
    const { lock, lock_error_logs } = await deployed("u/admin/linked", CONTENT);
    expect(lock).toBeUndefined();
    expect(lock_error_logs).toContain(`Permission denied: '${join(folder, "files")}`);
  } finally {
    await set("pip_index_url", null);
  }
}, 60_000);

test("a package does not replace the module of Python that has its name", async () => {
  await set("pip_find_links", join(folder, "wheels"));
  await set("pip_index_url", NOTHING);
  try {
    const content =
      "# requirements:\n# asyncio\n# uuid\nimport uuid\nasync def main(): return [uuid.UUID(int=1)]";
    const { lock } = await deployed("u/admin/outdated", content);
    expect(lock).toContain("asyncio==1.0");
    expect(lock).toContain("uuid==1.0");
    expect(await run("u/admin/outdated")).toEqual(["00000000-0000-0000-0000-000000000001"]);
  } finally {
    await set("pip_find_links", null);
    await set("pip_index_url", null);
  }
}, 60_000);
