import type { Expression, FunctionDeclaration, Node, Statement } from "@babel/types";
import { type Parameter, type ScriptAnalysis, toArgumentsSchema } from "../types.ts";
import { scanImports, toDependencies, toLocalImports } from "./imports.ts";
import { toParameters } from "./parameters.ts";
import { parseModule } from "./parse.ts";
import { addTypeParameters, collectTypes } from "./schema.ts";

type Callable = Extract<Node, { params: unknown; body: unknown }> & FunctionDeclaration;

/** Analyses a TypeScript or JavaScript module: signatures, schema and dependencies. */
export function analyseTypeScript(content: string, entrypoint = "main"): ScriptAnalysis {
  const file = parseModule(content);
  const exported = findExportedFunctions(file.program.body);
  const parametersOf = (name: string): Parameter[] | undefined => {
    const found = exported.get(name);
    if (!found) return undefined;
    const types = addTypeParameters(collectTypes(file.program.body), found.fn);
    return toParameters(found.fn.params, { types, comments: found.comments });
  };
  const main = parametersOf(entrypoint);
  const parameters = main ?? [];
  const sites = scanImports(file);
  const { dependencies, problem } = toDependencies(content, sites);
  return {
    signature: { parameters, has_main: main !== undefined, preprocessor: parametersOf("preprocessor") },
    schema: toArgumentsSchema(parameters),
    imports: toLocalImports(sites),
    packages:
      dependencies.length > 0 || problem !== undefined
        ? { client: "npm", dependencies, ...(problem !== undefined && { problem }) }
        : undefined,
  };
}

interface ExportedFunction {
  fn: Callable;
  /** JSDoc text above the function. */
  comments: string;
}

/** Finds the exported functions by their exported names. */
function findExportedFunctions(body: Statement[]): Map<string, ExportedFunction> {
  const local = new Map<string, ExportedFunction>();
  const exported = new Map<string, ExportedFunction>();
  const declare = (statement: Node, comments: string, into: Map<string, ExportedFunction>[]) => {
    for (const [name, fn] of declaredFunctions(statement)) {
      for (const map of into) map.set(name, { fn, comments });
    }
  };
  for (const statement of body) {
    const comments = readComments(statement);
    if (statement.type !== "ExportNamedDeclaration") declare(statement, comments, [local]);
    else if (statement.declaration) declare(statement.declaration, comments, [local, exported]);
  }
  for (const statement of body) {
    if (statement.type !== "ExportNamedDeclaration" || statement.source) continue;
    for (const specifier of statement.specifiers) {
      if (specifier.type !== "ExportSpecifier") continue;
      const found = local.get(exportName(specifier.local));
      if (found) exported.set(exportName(specifier.exported), found);
    }
  }
  return exported;
}

function exportName(node: Node): string {
  return node.type === "Identifier" ? node.name : node.type === "StringLiteral" ? node.value : "";
}

function* declaredFunctions(statement: Node): Generator<[string, Callable]> {
  if (statement.type === "FunctionDeclaration" && statement.id)
    yield [statement.id.name, statement as Callable];
  if (statement.type !== "VariableDeclaration") return;
  for (const { id, init } of statement.declarations) {
    const fn = init ? unwrap(init as Expression) : undefined;
    if (
      id.type === "Identifier" &&
      (fn?.type === "ArrowFunctionExpression" || fn?.type === "FunctionExpression")
    ) {
      yield [id.name, fn as unknown as Callable];
    }
  }
}

/** Removes parentheses, `as T` and `satisfies T`. */
function unwrap(expression: Expression): Expression {
  let at = expression;
  while (
    at.type === "ParenthesizedExpression" ||
    at.type === "TSAsExpression" ||
    at.type === "TSSatisfiesExpression"
  ) {
    at = at.expression as Expression;
  }
  return at;
}

function readComments(node: Node): string {
  return (node.leadingComments ?? []).map((comment) => comment.value).join("\n");
}
