/**
 * Configuration files in the README for other programs (systemd, proxies), and its statements about the
 * project.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { formatUnit, SYSTEM_USER } from "../../../cli/commands/server/init/unit.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { blockOf, headingsOf, ROOT } from "./blocks.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-snippets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = (file: string) => readFileSync(join(ROOT, file), "utf8");
const { host, port } = loadConfig({}, {});

/** Runs a checker if it is installed. @returns its complaints, or nothing */
function complaints(command: string[]): string {
  const [name, ...words] = command;
  const found = Bun.which(name!, { PATH: `${process.env.PATH}:/usr/sbin:/sbin` });
  if (!found) return "";
  const { exitCode, stdout, stderr } = Bun.spawnSync([found, ...words], {
    env: { ...process.env, HOME: folder },
  });
  return exitCode === 0 ? "" : `${stdout}${stderr}`;
}

describe("the unit for systemd", () => {
  const unit = blockOf("README.md", "svc.service");
  const valuesOf = (text: string, key: string) =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map((match) => match[1]!);

  test("sets existing settings", () => {
    const environment = Object.fromEntries(
      valuesOf(unit, "Environment")
        .join(" ")
        .split(" ")
        .map((each) => each.split("=")),
    );
    const config = loadConfig({}, environment);
    expect(config.base_url).toBe("https://svc.example.org");
    const read = Object.values(config.sources).filter((source) => source === "environment");
    expect(read).toHaveLength(Object.keys(environment).length);
  });

  test("equals the unit that the program writes, with the settings of the page", () => {
    const written = formatUnit({
      service: [
        ...SYSTEM_USER,
        "Environment=SVC_BASE_URL=https://svc.example.org SVC_TRUSTED_PROXIES=127.0.0.1",
      ],
      command: "/usr/local/bin/svc serve --data-dir /var/lib/svc",
      wanted_by: "multi-user.target",
    });
    expect(unit.trim()).toBe(written.trim());
  });

  test("is valid for systemd", async () => {
    const file = join(folder, "svc.service");
    // The checker requires that the program exists.
    await Bun.write(file, unit.replace("/usr/local/bin/svc", process.execPath));
    expect(complaints(["systemd-analyze", "verify", file])).toBe("");
  });
});

describe("proxy configurations", () => {
  const nginx = blockOf("README.md", "nginx");
  const caddy = blockOf("README.md", "caddyfile");

  test("forward to the server's address, and do not buffer streams", () => {
    expect(nginx).toContain(`proxy_pass http://${host}:${port};`);
    expect(caddy).toContain(`reverse_proxy ${host}:${port} {`);
    expect(nginx).toContain("proxy_buffering off;");
    expect(caddy).toContain("flush_interval -1");
  });

  test("of nginx set the headers that the server reads", () => {
    const read = page("src/platform/http/guards/proxies.ts").match(/x-forwarded-\w+/g) ?? [];
    const told = [...nginx.matchAll(/proxy_set_header (X-\S+)/g)].map((match) => match[1]!.toLowerCase());
    expect(new Set(told)).toEqual(new Set(read));
  });

  test("are well formed", () => {
    const lines = nginx.split("\n").filter((line) => line.trim() !== "");
    expect(lines.filter((line) => !/[;{}]$/.test(line))).toEqual([]);
    for (const text of [nginx, caddy]) {
      expect(text.match(/\{/g)).toHaveLength(text.match(/\}/g)?.length ?? 0);
    }
  });

  test.skipIf(!Bun.which("openssl"))(
    "nginx and Caddy understand them",
    async () => {
      const [key, certificate] = [join(folder, "key.pem"), join(folder, "cert.pem")];
      const options =
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=svc.example.org";
      Bun.spawnSync(["openssl", ...options.split(" "), "-keyout", key, "-out", certificate]);
      const server = nginx.replace(/\/\S+fullchain\.pem/, certificate).replace(/\/\S+privkey\.pem/, key);
      const [file, caddyfile] = [join(folder, "nginx.conf"), join(folder, "Caddyfile")];
      // By default it would write to folders of the system.
      const bodies = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
      const folders = bodies.map((name) => `${name}_temp_path ${folder}/${name};`).join("\n");
      const logs = `pid ${folder}/nginx.pid;\nerror_log stderr;\n`;
      await Bun.write(file, `${logs}events {}\nhttp {\naccess_log off;\n${folders}\n${server}}\n`);
      await Bun.write(caddyfile, caddy);
      expect(complaints(["nginx", "-t", "-c", file, "-p", folder])).toBe("");
      expect(complaints(["caddy", "validate", "--adapter", "caddyfile", "--config", caddyfile])).toBe("");
    },
    60_000,
  );
});

describe("the README", () => {
  test("lists each dependency", () => {
    const table = page("README.md").split("What each dependency is for")[1]!.split("## ")[0]!.toLowerCase();
    const { dependencies, devDependencies } = JSON.parse(page("package.json"));
    const names = Object.keys({ ...dependencies, ...devDependencies });
    expect(names.filter((name) => !table.includes(name.split("/").at(-1)!))).toEqual([]);
  });

  test("lists only commands that package.json has", () => {
    const { scripts } = JSON.parse(page("package.json"));
    const named = [...page("README.md").matchAll(/npx bun run ([\w:]+)/g)].map((match) => match[1]!);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  test("builds the image as the Containerfile says", () => {
    const head = page("Containerfile").split("ARG BASE")[0]!;
    const commands = head.split("\n").flatMap((line) => /^# {3}(.*)$/.exec(line)?.[1] ?? []);
    expect(commands).toHaveLength(3);
    expect(page("README.md")).toContain(`${commands.join("\n")}\n`);
  });

  const PAGES = ["README.md", "src/README.md", "src/REFERENCE.md", "src/engines/runner/SECURITY.md"];
  test.each(PAGES)("has no broken links in %s", (file) => {
    const broken = [...page(file).matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1]!)
      .filter((link) => !/^https?:/.test(link) && !leads(file, link));
    expect(broken).toEqual([]);
  });
});

function leads(file: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? file : join(dirname(file), path);
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || headingsOf(page(target)).map(slug).includes(anchor);
}

/** Converts a heading to its anchor, as repository pages do. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
