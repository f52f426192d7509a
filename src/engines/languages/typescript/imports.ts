/** Which packages a module imports, and where it says so. */
import { builtinModules } from "node:module";
import type { File, Node, StringLiteral } from "@babel/types";
import { BadRequest } from "../../../lib/errors.ts";
import type { Dependency } from "../types.ts";
import { isRegistryVersion } from "./lock-text.ts";
import { parseModule } from "./parse.ts";

export interface ImportSite {
  specifier: string;
  /** Offsets of the quoted text, quotes included. */
  start: number;
  end: number;
  line: number;
}

const BUILTINS = new Set(builtinModules);

/** Every import, re-export, `import("…")` and `require("…")` with a literal name. */
export function scanImports(source: File | string): ImportSite[] {
  const file = typeof source === "string" ? parseModule(source) : source;
  const sites: ImportSite[] = [];
  const add = (literal: Node | null | undefined) => {
    if (literal?.type !== "StringLiteral") return;
    const { value, start, end, loc } = literal as StringLiteral;
    sites.push({ specifier: value, start: start!, end: end!, line: loc!.start.line });
  };
  visit(file.program, (node) => {
    switch (node.type) {
      case "ImportDeclaration":
        if (node.importKind !== "type" && !onlyTypes(node.specifiers)) add(node.source);
        break;
      case "ExportNamedDeclaration":
        if (node.exportKind !== "type" && !onlyTypes(node.specifiers)) add(node.source);
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

/** `{ type A, type B }`: nothing of it is left when the script runs. */
function onlyTypes(specifiers: Node[]): boolean {
  return (
    specifiers.length > 0 &&
    specifiers.every(
      (specifier) =>
        (specifier.type === "ImportSpecifier" && specifier.importKind === "type") ||
        (specifier.type === "ExportSpecifier" && specifier.exportKind === "type"),
    )
  );
}

function visit(node: Node, enter: (node: Node) => void): void {
  const stack: unknown[] = [node];
  while (stack.length > 0) {
    const at = stack.pop();
    if (Array.isArray(at)) stack.push(...at);
    else if (typeof at === "object" && at !== null && "type" in at) {
      enter(at as Node);
      for (const [key, value] of Object.entries(at)) {
        if (typeof value === "object" && value !== null && key !== "loc" && !key.endsWith("Comments"))
          stack.push(value);
      }
    }
  }
}

interface PackageSpecifier {
  name: string;
  version: string | undefined;
  /** What follows the package's name, with its slash, or "". */
  subpath: string;
}

const PACKAGE = /^(?:npm:)?((?:@[a-z0-9~._-]+\/)?[a-z0-9~._-]+)(?:@([^/]+))?(\/.*)?$/i;

/** Undefined for what is no npm package: relative and absolute paths, built-in modules. */
function parseSpecifier(specifier: string): PackageSpecifier | undefined {
  if (
    /^[./]/.test(specifier) ||
    specifier.startsWith("node:") ||
    specifier === "bun" ||
    specifier.startsWith("bun:")
  ) {
    return undefined;
  }
  const match = PACKAGE.exec(specifier);
  if (!match) return undefined;
  const [, name, version, subpath = ""] = match;
  if (BUILTINS.has(name!) && version === undefined) return undefined;
  return { name: name!, version, subpath };
}

/**
 * The packages to install.
 * @throws BadRequest for an import from a URL, and for two versions of one package
 */
export function toDependencies(sites: ImportSite[]): Dependency[] {
  const versions = new Map<string, string | undefined>();
  for (const { specifier, line } of sites) {
    if (/^[a-z]+:\/\//i.test(specifier)) {
      throw new BadRequest(
        `line ${line} imports from a URL, which is not supported: import the npm package instead`,
      );
    }
    const found = parseSpecifier(specifier);
    if (!found) continue;
    if (found.version !== undefined && !isRegistryVersion(found.version)) {
      throw new BadRequest(
        `line ${line} imports ${found.name} at "${found.version}", which is no version, range or tag of the npm registry`,
      );
    }
    const known = versions.get(found.name);
    if (known !== undefined && found.version !== undefined && known !== found.version) {
      throw new BadRequest(`the script imports two versions of ${found.name}: ${known} and ${found.version}`);
    }
    versions.set(found.name, found.version ?? known);
  }
  return [...versions]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, version]) => ({ name, version: version ?? "latest" }));
}

/** What is imported of the workspace: by a relative path, or by an absolute one below /f or /u. */
export function toLocalImports(sites: ImportSite[]): string[] {
  return [...new Set(sites.map(({ specifier }) => specifier).filter(isLocal))];
}

function isLocal(specifier: string): boolean {
  return /^(\.{1,2}\/|\/[fu]\/)/.test(specifier);
}

/**
 * The source as it is run: with versions taken out of its imports (`"x@1.2/y"` → `"x/y"`), and with scripts of the
 * workspace imported from where they are placed. Every line keeps its place.
 * @param place what a local import becomes; undefined leaves it as it is
 */
export function rewriteImports(
  content: string,
  place: (specifier: string) => string | undefined = () => undefined,
): string {
  let text = content;
  for (const { specifier, start, end } of scanImports(content).reverse()) {
    const found = parseSpecifier(specifier);
    const plain = isLocal(specifier) ? place(specifier) : found && found.name + found.subpath;
    if (plain !== undefined && plain !== specifier)
      text = text.slice(0, start) + JSON.stringify(plain) + text.slice(end);
  }
  return text;
}
