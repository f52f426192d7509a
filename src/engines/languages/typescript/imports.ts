/** Imports of a module, with their positions. */
import { builtinModules } from "node:module";
import type { File, Node, StringLiteral } from "@babel/types";
import type { Dependency } from "../types.ts";
import { isRegistryVersion } from "./lock-text.ts";
import { parseModule } from "./parse.ts";

export interface ImportSite {
  specifier: string;
  /** Offsets of the string literal, quotes included. */
  start: number;
  end: number;
}

const BUILTINS = new Set(builtinModules);

/** Lists all imports, re-exports, `import("…")` and `require("…")` with a literal specifier. */
export function scanImports(source: File | string): ImportSite[] {
  const file = typeof source === "string" ? parseModule(source) : source;
  const sites: ImportSite[] = [];
  const add = (literal: Node | null | undefined) => {
    if (literal?.type !== "StringLiteral") return;
    const { value, start, end } = literal as StringLiteral;
    sites.push({ specifier: value, start: start!, end: end! });
  };
  walk(file.program, (node) => {
    switch (node.type) {
      case "ImportDeclaration":
        if (node.importKind !== "type" && !isTypeOnly(node.specifiers)) add(node.source);
        break;
      case "ExportNamedDeclaration":
        if (node.exportKind !== "type" && !isTypeOnly(node.specifiers)) add(node.source);
        break;
      case "ExportAllDeclaration":
        if (node.exportKind !== "type") add(node.source);
        break;
      case "ImportExpression":
        add(node.source);
        break;
      case "CallExpression":
        if (node.callee.type === "Import") add(node.arguments[0]);
        if (node.callee.type === "Identifier" && node.callee.name === "require") add(node.arguments[0]);
    }
  });
  return sites.sort((a, b) => a.start - b.start);
}

/** Whether all specifiers are types (`{ type A, type B }`), which disappear at run time. */
function isTypeOnly(specifiers: Node[]): boolean {
  return (
    specifiers.length > 0 &&
    specifiers.every(
      (specifier) =>
        (specifier.type === "ImportSpecifier" && specifier.importKind === "type") ||
        (specifier.type === "ExportSpecifier" && specifier.exportKind === "type"),
    )
  );
}

function walk(node: Node, enter: (node: Node) => void): void {
  const stack: unknown[] = [node];
  while (stack.length > 0) {
    const at = stack.pop();
    if (Array.isArray(at)) stack.push(...at);
    else if (typeof at === "object" && at !== null && "type" in at) {
      enter(at as Node);
      for (const [key, value] of Object.entries(at)) {
        if (typeof value === "object" && value !== null && !key.endsWith("Comments")) stack.push(value);
      }
    }
  }
}

interface PackageSpecifier {
  name: string;
  version: string | undefined;
  /** Path after the package name, with its slash, or "". */
  subpath: string;
}

const PACKAGE_PATTERN = /^(?:npm:)?((?:@[a-z0-9~._-]+\/)?[a-z0-9~._-]+)(?:@([^/]+))?(\/.*)?$/i;

/** Parses an npm specifier; undefined for relative and absolute paths and built-in modules. */
function parsePackageSpecifier(specifier: string): PackageSpecifier | undefined {
  if (
    /^[./]/.test(specifier) ||
    specifier.startsWith("node:") ||
    specifier === "bun" ||
    specifier.startsWith("bun:")
  ) {
    return undefined;
  }
  const match = PACKAGE_PATTERN.exec(specifier);
  if (!match) return undefined;
  const [, name, version, subpath = ""] = match;
  if (BUILTINS.has(name!) && version === undefined) return undefined;
  return { name: name!, version, subpath };
}

/** Returns the line of an offset, counted from 1 (ECMA-262 §12.3). */
function lineOf(content: string, offset: number): number {
  return content.slice(0, offset).split(/\r\n|[\n\r\u2028\u2029]/).length;
}

export interface RequiredPackages {
  dependencies: Dependency[];
  /** Why they cannot be installed. */
  problem: string | undefined;
}

/**
 * Returns the packages to install. Imports from a URL, versions that no registry has, and two versions of one package
 * are problems of the installation, not of the script's form: it is stored all the same.
 */
export function toDependencies(content: string, sites: ImportSite[]): RequiredPackages {
  const versions = new Map<string, string | undefined>();
  let problem: string | undefined;
  for (const { specifier, start } of sites) {
    if (/^[a-z]+:\/\//i.test(specifier)) {
      problem ??= `line ${lineOf(content, start)} imports from a URL, which is not supported: import the npm package instead`;
      continue;
    }
    const found = parsePackageSpecifier(specifier);
    if (!found) continue;
    const known = versions.get(found.name);
    if (found.version !== undefined && !isRegistryVersion(found.version)) {
      problem ??= `line ${lineOf(content, start)} imports ${found.name} at "${found.version}", which is not a version, range or tag of the npm registry`;
    } else if (known !== undefined && found.version !== undefined && known !== found.version) {
      problem ??= `the script imports two versions of ${found.name}: ${known} and ${found.version}`;
    } else versions.set(found.name, found.version ?? known);
  }
  const dependencies = [...versions]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, version]) => ({ name, version: version ?? "latest" }));
  return { dependencies, problem };
}

/** Returns the imports of workspace scripts: relative paths, and absolute ones below /f or /u. */
export function toLocalImports(sites: ImportSite[]): string[] {
  return [...new Set(sites.map(({ specifier }) => specifier).filter(isLocalImport))];
}

function isLocalImport(specifier: string): boolean {
  return /^(\.{1,2}\/|\/[fu]\/)/.test(specifier);
}

/**
 * Rewrites a source for execution: removes versions from package imports (`"x@1.2/y"` → `"x/y"`) and redirects imports
 * of workspace scripts. Line numbers stay the same.
 * @param place returns a local import's new specifier; undefined keeps it
 */
export function rewriteImports(
  content: string,
  place: (specifier: string) => string | undefined = () => undefined,
): string {
  let text = content;
  for (const { specifier, start, end } of scanImports(content).reverse()) {
    const found = parsePackageSpecifier(specifier);
    const plain = isLocalImport(specifier) ? place(specifier) : found && found.name + found.subpath;
    if (plain !== undefined && plain !== specifier)
      text = text.slice(0, start) + JSON.stringify(plain) + text.slice(end);
  }
  return text;
}
