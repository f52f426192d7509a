/** Packages of PHP and Ruby scripts: locked at deploy and installed once per lock, from named sources. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolderReadable } from "../../../src/engines/runner/sandbox/users/make-readable.ts";
import {
  type Ask,
  createTemporaryFolder,
  deploy,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";
import { type ComposerRepository, startComposerRepository } from "../../support/peers/packages/composer.ts";
import { type GemServer, startGemServer } from "../../support/peers/packages/gem-server.ts";
import { installClients } from "../../support/peers/packages/package-clients.ts";

/** Each test starts package clients several times. */
const SLOW_MS = 60_000;

let server: TestServer;
let ask: Ask;
const composer_home = process.env.COMPOSER_HOME;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(async () => {
  await server.stop();
  if (composer_home === undefined) delete process.env.COMPOSER_HOME;
  else process.env.COMPOSER_HOME = composer_home;
});

async function deployed(path: string, language: string, content: string, more: object = {}) {
  const hash = await deploy(ask, "acme", path, content, { language, ...more });
  return until(async () => {
    const { json } = await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`);
    const status = json<{ lock?: string; lock_error_logs?: string }>();
    return status.lock !== undefined || status.lock_error_logs ? status : undefined;
  }, "the end of the dependency job");
}
const run = async (path: string, args = {}) =>
  (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, args)).json();
const failureOf = async (path: string) =>
  (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {})).text;
const preview = async (language: string, content: string) =>
  (await ask("POST", "/w/acme/jobs/run_wait_result/preview", { content, language, args: {} })).json();

describe.skipIf(!Bun.which("bundle"))("Ruby", () => {
  let gems: GemServer;
  const script = (more = "") => `require 'bundler/inline'

gemfile do
  # Where they come from.
  source '${gems.url}'
  gem 'greeting-words'${more}
  group :quiet do
    gem 'silent', require: false
  end
end

def main(name = 'nobody')
  [Greeting::WORD, name, defined?(Silent).nil?].join(' ')
end
`;

  beforeAll(async () => {
    const words = (word: string) => ({ "lib/greeting/words.rb": `module Greeting; WORD = '${word}'; end\n` });
    gems = await startGemServer([
      { name: "greeting-words", version: "1.0.0", files: words("hello") },
      { name: "greeting-words", version: "1.2.0", files: words("good day") },
      { name: "silent", version: "1.0.0", files: { "lib/silent.rb": "module Silent; end\n" } },
    ]);
  });
  afterAll(() => gems[Symbol.asyncDispose]());

  test(
    "gems of a `gemfile` block are locked, and installed once for all scripts with this lock",
    async () => {
      const { lock } = await deployed("u/admin/ruby_gem", "ruby", script());
      expect(lock).toContain("greeting-words (1.2.0)");
      expect(lock).not.toContain("BUNDLED WITH");
      expect(await run("u/admin/ruby_gem", { name: "ann" })).toBe("good day ann true");
      const before = gems.downloads();
      await deployed("u/admin/ruby_other", "ruby", `${script()}# another\n`);
      expect(await run("u/admin/ruby_other")).toBe("good day nobody true");
      expect(gems.downloads()).toBe(before);
    },
    SLOW_MS,
  );

  test(
    "a client's lock determines the version, also if it names another Bundler",
    async () => {
      const own = (await deployed("u/admin/ruby_lock", "ruby", script())).lock!;
      const lock = `${own.replace("(1.2.0)", "(1.0.0)")}\n\nBUNDLED WITH\n   9.9.9\n`;
      await deployed("u/admin/ruby_locked", "ruby", script(), { lock });
      expect(await run("u/admin/ruby_locked")).toBe("hello nobody true");
    },
    SLOW_MS,
  );

  test(
    "undeployed code gets them too, and `windmill/inline` means the same",
    async () => {
      const other = script(", '1.0.0'").replace("bundler/inline", "windmill/inline");
      expect(await preview("ruby", other)).toBe("hello nobody true");
    },
    SLOW_MS,
  );

  test(
    "a gem that the source lacks fails the deployment and the run, by its name",
    async () => {
      const missing = script().replace("greeting-words", "not-there");
      const { lock_error_logs } = await deployed("u/admin/ruby_absent", "ruby", missing);
      expect(lock_error_logs).toMatch(/^ruby packages could not be resolved: .*not-there/);
      expect(await failureOf("u/admin/ruby_absent")).toContain("not-there");
    },
    SLOW_MS,
  );
});

describe.skipIf(!Bun.which("composer"))("PHP", () => {
  let repository: ComposerRepository;
  const script = (version = "") => `<?php
// require:
// some/greeting${version}

function main(string $name = 'nobody') {
    return greet($name);
}
`;

  beforeAll(async () => {
    const code = (word: string) => `<?php\nfunction greet($name) { return "${word} $name"; }\n`;
    repository = await startComposerRepository([
      { name: "some/greeting", version: "1.0.0", code: code("hello") },
      { name: "some/greeting", version: "1.2.0", code: code("good day") },
    ]);
    process.env.COMPOSER_HOME = createTemporaryFolder("svc-composer-home-");
    const settings = {
      repositories: [
        { type: "composer", url: repository.url.replace("//", "//ann:not-for-scripts@") },
        { "packagist.org": false },
      ],
      config: { "secure-http": false, "github-oauth": { "github.com": "not-for-scripts" } },
    };
    writeFileSync(join(process.env.COMPOSER_HOME, "config.json"), JSON.stringify(settings));
  });
  afterAll(() => repository[Symbol.asyncDispose]());

  test(
    "packages of a comment `// require:` are locked, and installed once for all scripts with this lock",
    async () => {
      const { lock } = await deployed("u/admin/php_package", "php", script());
      expect(JSON.parse(lock!).packages).toMatchObject([{ name: "some/greeting", version: "1.2.0" }]);
      expect(lock).not.toContain("not-for-scripts");
      expect(await run("u/admin/php_package", { name: "ann" })).toBe("good day ann");
      const before = repository.downloads();
      await deployed("u/admin/php_other", "php", `${script()}// another\n`);
      expect(await run("u/admin/php_other")).toBe("good day nobody");
      expect(repository.downloads()).toBe(before);
    },
    SLOW_MS,
  );

  test(
    "a client's lock determines the version",
    async () => {
      const older = (await deployed("u/admin/php_older", "php", script("@1.0.0"))).lock!;
      await deployed("u/admin/php_locked", "php", script(), { lock: older });
      expect(await run("u/admin/php_locked")).toBe("hello nobody");
    },
    SLOW_MS,
  );

  test(
    "undeployed code gets them too",
    async () => {
      expect(await preview("php", script("@^1.0"))).toBe("good day nobody");
    },
    SLOW_MS,
  );

  test(
    "a package that no source has fails the deployment and the run, by its name",
    async () => {
      const missing = script().replace("some/greeting", "some/absent");
      const { lock_error_logs } = await deployed("u/admin/php_absent", "php", missing);
      expect(lock_error_logs).toMatch(/^php packages could not be resolved: .*some\/absent/);
      expect(await failureOf("u/admin/php_absent")).toContain("some/absent");
    },
    SLOW_MS,
  );
});

/** A minimal Composer: its lock contains what it received. */
const COMPOSER = `<?php
$read = fn($path) => is_string($path) ? @file_get_contents($path) : null;
if ($argv[1] === 'update') {
    $settings = json_decode($read(getenv('COMPOSER_HOME') . '/config.json'));
    $names = ['SSL_CERT_FILE', 'COMPOSER_CAFILE', 'COMPOSER_CAPATH', 'SSL_CERT_DIR'];
    $certificates = array_map('getenv', $names);
    foreach ([2, 3] as $nth) $certificates[$nth] = preg_replace('/^.*:/', '', $certificates[$nth]) . '/ca.pem';
    file_put_contents('composer.lock', json_encode([
        'secrets' => [$read('FOLDER/tools/secret'), $read('FOLDER/links/secret'), $read('FOLDER/outside/secret')],
        'certificates' => array_map($read, [...$certificates, $settings->config->cafile]),
        'settings' => $settings,
    ]));
    exit;
}
switch (array_key_first((array) json_decode($read('composer.json'))->require)) {
    case 'hostile/made':
        rename('../made', '../other');
        symlink('FOLDER/outside', '../made');
        break;
    case 'hostile/vendor':
        symlink('FOLDER/outside', 'vendor');
        break;
    case 'some/failing':
        echo 'no luck';
        exit(1);
    default:
        mkdir('vendor');
        file_put_contents('vendor/autoload.php', "<?php function greet() { return 'hello'; }");
}
`;

describe.skipIf(!Bun.which("php"))("a package client outside of the system's folders", () => {
  const SETTINGS = "PATH COMPOSER_HOME SSL_CERT_FILE SSL_CERT_DIR COMPOSER_CAFILE COMPOSER_CAPATH".split(" ");
  const before = { ...process.env };
  const clients = installClients({ composer: COMPOSER });
  const inFolder = (name: string) => join(clients.folder, name);
  const script = (name: string) => `<?php\n// require:\n// ${name}\nfunction main() { return greet(); }\n`;
  const repository = { type: "composer", canonical: false };

  beforeAll(() => {
    for (const name of ["home", "outside", "certificates", "more"]) mkdirSync(inFolder(name));
    const pems = ["one.pem", "two.pem", "three.pem", "certificates/ca.pem", "more/ca.pem"];
    for (const name of [...pems, "outside/secret"]) writeFileSync(inFolder(name), name);
    symlinkSync("one.pem", inFolder("link.pem"));
    chmodSync(inFolder("outside/secret"), 0o600);
    const url = "http://ann:not-for-scripts@127.0.0.1:9/";
    const settings = {
      repositories: [{ ...repository, url, allow_ssl_downgrade: false }, { "packagist.org": false }],
      config: { cafile: inFolder("three.pem") },
    };
    writeFileSync(inFolder("home/config.json"), JSON.stringify(settings));
    Object.assign(process.env, {
      PATH: clients.path,
      COMPOSER_HOME: inFolder("home"),
      SSL_CERT_FILE: inFolder("link.pem"),
      COMPOSER_CAFILE: inFolder("two.pem"),
      COMPOSER_CAPATH: inFolder("certificates"),
      SSL_CERT_DIR: `/etc/ssl/certs:${inFolder("more")}`,
    });
  });
  afterAll(() => {
    for (const name of SETTINGS) delete process.env[name];
    Object.assign(process.env, before);
    clients[Symbol.dispose]();
  });

  test("reads its own file and the certificates in its settings, but no other files", async () => {
    const { lock } = await deployed("u/admin/php_places", "php", script("some/greeting"));
    expect(JSON.parse(lock!)).toMatchObject({
      secrets: [false, false, false],
      certificates: ["one.pem", "two.pem", "certificates/ca.pem", "more/ca.pem", "three.pem"],
    });
    expect(await run("u/admin/php_places")).toBe("hello");
  });

  test("gets a repository's type and URL, also if an option of it is off", async () => {
    const { lock } = await deployed("u/admin/php_repository", "php", script("some/greeting"));
    expect(JSON.parse(lock!).settings.repositories).toEqual([
      { ...repository, url: "http://127.0.0.1:9/" },
      { "packagist.org": false },
    ]);
  });

  test("that fails to install is named, with the installer's message", async () => {
    await deployed("u/admin/php_failing", "php", script("some/failing"));
    expect(await failureOf("u/admin/php_failing")).toContain("php packages could not be installed: no luck");
  });

  test("makes nothing readable to which a package replaced a folder by a link", async () => {
    await deployed("u/admin/php_link", "php", script("hostile/made"));
    expect(await failureOf("u/admin/php_link")).toContain("the installed packages are not in a folder");
    await deployed("u/admin/php_inner_link", "php", script("hostile/vendor"));
    expect(await failureOf("u/admin/php_inner_link")).not.toContain("outside/secret");
    expect(statSync(inFolder("outside/secret")).mode & 0o777).toBe(0o600);
    if (process.geteuid?.() !== 0) return;
    symlinkSync(inFolder("outside"), inFolder("linked"));
    await expect(makeFolderReadable(inFolder("linked"))).rejects.toThrow("is not a folder");
  });
});
