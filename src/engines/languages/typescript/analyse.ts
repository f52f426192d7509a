import type { Expression, FunctionDeclaration, Node, Statement } from "@babel/types";
import { type Parameter, type ScriptAnalysis, toArgumentsSchema } from "../types.ts";
import { scanImports, toDependencies, toLocalImports } from "./imports.ts";
import { toParameters } from "./parameters.ts";
import { parseModule } from "./parse.ts";
import { collectTypes, withTypeParameters } from "./schema.ts";

type Callable = Extract<Node, { params: unknown; body: unknown }> & FunctionDeclaration;

/** Signatures, schema and dependencies of a TypeScript or JavaScript module. */
export function analyseTypeScript(content: string, entrypoint = "main"): ScriptAnalysis {
  const file = parseModule(content);
  const exported = exportedFunctions(file.program.body);
  const parametersOf = (name: string): Parameter[] | undefined => {
    const found = exported.get(name);
    if (!found) return undefined;
    const types = withTypeParameters(collectTypes(file.program.body), found.fn);
    return toParameters(found.fn.params, { types, comments: found.comments });
  };
  const main = parametersOf(entrypoint);
  const parameters = main ?? [];
  const sites = scanImports(file);
  const dependencies = toDependencies(sites);
  return {
    signature: { parameters, has_main: main !== undefined, preprocessor: parametersOf("preprocessor") },
    schema: toArgumentsSchema(parameters),
    imports: toLocalImports(sites),
    packages: dependencies.length > 0 ? { client: "npm", dependencies } : undefined,
  };
}

interface Found {
  fn: Callable;
  /** JSDoc text above it. */
  comments: string;
}

/** Functions the module exports, under the names it exports them by. */
function exportedFunctions(body: Statement[]): Map<string, Found> {
  const local = new Map<string, Found>();
  const exported = new Map<string, Found>();
  const declare = (statement: Node, comments: string, into: Map<string, Found>[]) => {
    for (const [name, fn] of declaredFunctions(statement)) {
      for (const map of into) map.set(name, { fn, comments });
    }
  };
  for (const statement of body) {
    const comments = commentsOf(statement);
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

/** `(f)`, `f as T` and `f satisfies T` are f. */
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

function commentsOf(node: Node): string {
  return (node.leadingComments ?? []).map((comment) => comment.value).join("\n");
}
