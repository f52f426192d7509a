/** Go scripts with modules: locked by `go mod tidy`, and compiled with them. */
import type { PackageBuild } from "./types.ts";

/** Stands between `go.mod` and `go.sum` in a lock, as existing clients write it. */
const SEPARATOR = "//go.sum\n";
/** Name of the module that a script is compiled in; its wrapper imports `script/inner`. */
const MODULE = "module script\n";

/** A module in the folder for temporary files, as a child's own folder is, is ignored by Go. */
const FOLDER = "module";
const inFolder = (command: string) => `cd ${FOLDER} && exec "$0" ${command}`;

/**
 * Creates the description of how Go scripts with modules are locked and compiled.
 * @param findPackages lists the import paths of a script
 * @param toInner returns the script as the wrapper imports it
 * @param toNames returns the file that tells the wrapper the parameters' names
 */
export function createGoBuild(
  findPackages: (content: string) => string[],
  toInner: (content: string) => string,
  toNames: (parameters: readonly { name: string }[]) => string,
): PackageBuild {
  return {
    tool: "go",
    install: "install Go (Debian: golang-go)",
    inherited: /^(GO(PROXY|PRIVATE|NOPROXY|SUMDB|NOSUMDB|INSECURE)|SSL_CERT_(?:FILE|DIR))$/,
    environment: () => ({
      CGO_ENABLED: "0",
      GO111MODULE: "on",
      GOTOOLCHAIN: "local",
      // The folder is removed by a user who may not be its owner.
      GOFLAGS: "-modcacherw",
    }),
    toManifest: (content) => [...new Set(findPackages(content))].sort().join("\n"),
    lock: {
      files: (manifest) => ({
        [`${FOLDER}/go.mod`]: MODULE,
        [`${FOLDER}/main.go`]: `package main\n\n${manifest.replace(/^.+$/gm, (path) => `import _ ${JSON.stringify(path)}`)}\n\nfunc main() {}\n`,
      }),
      command: (go) => ["/bin/sh", "-c", inFolder("mod tidy"), go],
      results: [`${FOLDER}/go.mod`, `${FOLDER}/go.sum`],
      toText: ([module, sums]) => `${module}${SEPARATOR}${sums}`,
    },
    wrappers: { [`${FOLDER}/main.go`]: "main.go" },
    files(content, parameters, lock = "") {
      const [module = "", sums = ""] = lock.split(SEPARATOR);
      return {
        [`${FOLDER}/go.mod`]: module.trim() === "" ? MODULE : module.replace(/^module\s.*$/m, MODULE.trim()),
        [`${FOLDER}/go.sum`]: sums,
        [`${FOLDER}/inner/main.go`]: toInner(content),
        [`${FOLDER}/names.go`]: toNames(parameters),
      };
    },
    // Other flags of the compiler would compile the standard library again.
    command: (go) => ["/bin/sh", "-c", inFolder("build -mod=mod '-ldflags=-s -w' -o ../program ."), go],
  };
}
