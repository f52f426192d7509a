/** Rust scripts with crates: locked and compiled by Cargo. `main` takes and returns what serde can convert. */
import { removeUrlCredentials } from "../../../lib/text/url-credentials.ts";
import type { PackageBuild } from "./types.ts";

type Dependencies = Record<string, unknown>;

/** A script with crates has no `Json` of the server's: its arguments and result go through these. */
const ALWAYS: Dependencies = { serde: { version: "1", features: ["derive"] }, serde_json: "1" };

/**
 * Creates the description of how Rust scripts with crates are locked and compiled.
 * @param findPackages lists the crates of a script
 * @param main matches the head of `main`; its first group is there if `main` is async
 */
export function createCargoBuild(findPackages: (content: string) => string[], main: RegExp): PackageBuild {
  return {
    tool: "cargo",
    install: "install Cargo (Debian: cargo)",
    // A script's macros run while it is compiled, and read all of this.
    inherited: INHERITED,
    settings: {
      variable: "CARGO_HOME",
      folder: ".cargo",
      file: "config.toml",
      toPublic: toPublicSettings,
    },
    environment: (rustc) => ({
      RUSTC: rustc,
      // Rust's own linker may be in a folder that gcc, as another user, takes for unreadable (access(2)).
      RUSTFLAGS: "-A warnings -C link-arg=-fuse-ld=bfd",
      CARGO_INCREMENTAL: "0",
      CARGO_TERM_COLOR: "never",
    }),
    toManifest(content) {
      const manifest = readManifest(content);
      if (manifest === undefined) return rawManifest(content);
      const stated = { ...(manifest.dependencies as Dependencies | undefined) };
      for (const [name, value] of Object.entries(ALWAYS)) stated[name] ??= value;
      for (const name of findPackages(content)) stated[name] ??= "*";
      if (main.exec(content)?.[1]) stated.tokio = withRuntime(stated.tokio);
      const names = Object.keys(stated).sort();
      const edition = (manifest.package as Dependencies | undefined)?.edition ?? "2021";
      return [
        headOf(String(edition)),
        "[dependencies]",
        ...names.map((name) => `${name} = ${toToml(stated[name])}`),
        "",
      ].join("\n");
    },
    lock: {
      files: (manifest) => ({ "Cargo.toml": manifest, "src/main.rs": "fn main() {}\n" }),
      command: (cargo) => [cargo, "generate-lockfile"],
      results: ["Cargo.lock"],
      toText: ([lock]) => lock!,
    },
    wrappers: { "src/main.rs": "main_crates.rs" },
    files(content, parameters, lock) {
      const given = parameters.map(({ name }) => `argument(&given, ${JSON.stringify(name)})`);
      const call = `inner::main(${given.join(", ")})`;
      const files: Record<string, string> = {
        "Cargo.toml": this.toManifest(content),
        "src/inner.rs": content
          .replace(/^#\[tokio::main[^\r\n]*\]\s*?(?=\n)/m, "")
          .replace(main, "pub $1fn main"),
        "src/call.rs": main.exec(content)?.[1]
          ? `tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(${call})`
          : call,
      };
      if (lock) files["Cargo.lock"] = lock;
      return files;
    },
    // What Cargo leaves is a link to another of its files, and what has links is not taken from a script's folder.
    command: (cargo) => [
      "/bin/sh",
      "-c",
      '"$0" build --release --quiet && cp target/release/program program',
      cargo,
    ],
  };
}

const SOURCE_KEYS = ["registry", "replace-with", "directory", "local-registry"];
const HTTP_KEYS = [
  "cainfo",
  "proxy",
  "timeout",
  "low-speed-limit",
  "multiplexing",
  "check-revoke",
  "ssl-version",
];
const NET_KEYS = ["offline", "retry"];

/** Returns a pattern of the environment variables for the same settings, without those that hold or yield secrets. */
const toVariables = (section: string, keys: string[]) =>
  `${section}_(?:${keys.map((key) => key.toUpperCase().replaceAll("-", "_")).join("|")})`;
const INHERITED = new RegExp(
  `^(?:SSL_CERT_(?:FILE|DIR)|CARGO_(?:${[
    "REGISTRY_DEFAULT",
    toVariables("REGISTRIES_[A-Z0-9_]+", ["index", "protocol"]),
    toVariables("HTTP", HTTP_KEYS),
    toVariables("NET", NET_KEYS),
  ].join("|")}))$`,
);

/** Returns the settings that say where crates come from. @throws SyntaxError */
function toPublicSettings(text: string): string {
  const given = Bun.TOML.parse(text) as Dependencies;
  const tables: [path: string[], table: unknown, keys: string[]][] = [
    [["registry"], given.registry, ["default"]],
    [["http"], given.http, HTTP_KEYS],
    [["net"], given.net, NET_KEYS],
    ...Object.entries(toTable(given.registries)).map(([name, table]): [string[], unknown, string[]] => [
      ["registries", name],
      table,
      ["index", "protocol"],
    ]),
    ...Object.entries(toTable(given.source)).map(([name, table]): [string[], unknown, string[]] => [
      ["source", name],
      table,
      SOURCE_KEYS,
    ]),
  ];
  return tables
    .map(([path, table, keys]) => {
      const stated = Object.entries(toTable(table)).filter(
        ([key, value]) => keys.includes(key) && typeof value !== "object",
      );
      const lines = stated.map(
        ([key, value]) =>
          `${key} = ${toToml(typeof value === "string" ? removeUrlCredentials(value) : value)}\n`,
      );
      return `[${path.map((each) => JSON.stringify(each)).join(".")}]\n${lines.join("")}`;
    })
    .join("");
}

const toTable = (value: unknown): Dependencies =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Dependencies) : {};

const headOf = (edition: string) =>
  `[package]\nname = "program"\nversion = "0.0.0"\nedition = ${JSON.stringify(edition)}\n\n[profile.release]\nstrip = true\n`;

/** Matches the line before the manifest in the comments at a script's head. */
const MANIFEST_START = /^[ \t]*(?:(?:\/\/!|\*)[ \t]*)?```cargo[ \t]*\n/m;

/** Returns the manifest in the comments at a script's head, without their marks; empty if there is none. */
export function readManifestText(content: string): string {
  const start = MANIFEST_START.exec(content);
  if (!start) return "";
  const from = start.index + start[0].length;
  const end = content.indexOf("```", from);
  return end < 0 ? "" : content.slice(from, end).replace(/^[ \t]*(?:\/\/!|\*)?[ \t]?/gm, "");
}

/** Returns the script's manifest; undefined if it is no TOML. */
function readManifest(content: string): Dependencies | undefined {
  try {
    return Bun.TOML.parse(readManifestText(content)) as Dependencies;
  } catch {
    return undefined;
  }
}

/** Leaves a manifest that is no TOML to Cargo, which says what is wrong with it. */
const rawManifest = (content: string) => `${headOf("2021")}\n${readManifestText(content)}`;

/** Adds what an async `main` needs. */
function withRuntime(stated: unknown): Dependencies {
  const table =
    typeof stated === "object" && stated !== null
      ? (stated as Dependencies)
      : { version: stated ?? "1", ...(stated === undefined && { features: ["full"] }) };
  const features = new Set((table.features as string[] | undefined) ?? []);
  return { ...table, features: [...features.add("rt")] };
}

/** Writes a value of a dependency's table. */
function toToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, each]) => `${name} = ${toToml(each)}`);
  return `{ ${entries.join(", ")} }`;
}
