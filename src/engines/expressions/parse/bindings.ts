/** Which names a function, a block, a loop or a catch declares for itself (ECMA-262 §8.2). */
import type { Function as FunctionNode, Node, Statement } from "@babel/types";

export function isFunction(node: Node): node is FunctionNode {
  switch (node.type) {
    case "ArrowFunctionExpression":
    case "FunctionExpression":
    case "FunctionDeclaration":
    case "ObjectMethod":
    case "ClassMethod":
    case "ClassPrivateMethod":
      return true;
    default:
      return false;
  }
}

export function* children(node: Node): Generator<Node> {
  for (const [key, value] of Object.entries(node)) {
    if (key === "loc" || key === "extra") continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === "object" && child !== null && "type" in child) yield child as Node;
    }
  }
}

/** The names that come into being at `node` and hold inside of it; undefined where none can. */
export function declaredBy(node: Node): Set<string> | undefined {
  if (isFunction(node)) return declaredByFunction(node);
  switch (node.type) {
    case "Program":
      return new Set([...lexical(node.body), ...hoisted(node)]);
    case "StaticBlock":
      return new Set([...lexical(node.body), ...hoisted(node)]);
    case "BlockStatement":
      return new Set(lexical(node.body));
    case "SwitchStatement":
      return new Set(lexical(node.cases.flatMap((one) => one.consequent)));
    case "ForStatement":
      return node.init?.type === "VariableDeclaration" ? new Set(lexical([node.init])) : undefined;
    case "ForInStatement":
    case "ForOfStatement":
      return node.left.type === "VariableDeclaration" ? new Set(lexical([node.left])) : undefined;
    case "CatchClause":
      return node.param ? new Set(namesIn(node.param)) : undefined;
    case "ClassExpression":
      return node.id ? new Set([node.id.name]) : undefined;
    default:
      return undefined;
  }
}

function declaredByFunction(node: FunctionNode): Set<string> {
  const names = new Set(node.params.flatMap(namesIn));
  for (const name of hoisted(node.body)) names.add(name);
  if (node.type === "FunctionExpression" && node.id) names.add(node.id.name);
  if (node.type !== "ArrowFunctionExpression") names.add("arguments");
  return names;
}

/** Of let, const, class and function, which hold in their block. */
function lexical(statements: Statement[]): string[] {
  return statements.flatMap((statement) => {
    if (statement.type === "VariableDeclaration") {
      return statement.kind === "var" ? [] : statement.declarations.flatMap(({ id }) => namesIn(id));
    }
    if (statement.type !== "FunctionDeclaration" && statement.type !== "ClassDeclaration") return [];
    return statement.id ? [statement.id.name] : [];
  });
}

/** Of var, which hold in the whole function. */
function hoisted(node: Node): string[] {
  const own =
    node.type === "VariableDeclaration" && node.kind === "var"
      ? node.declarations.flatMap(({ id }) => namesIn(id))
      : [];
  const inner = [...children(node)].filter((child) => !isFunction(child) && child.type !== "StaticBlock");
  return [...own, ...inner.flatMap(hoisted)];
}

/** The names that a pattern binds. */
function namesIn(pattern: Node): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        namesIn(property.type === "RestElement" ? property.argument : property.value),
      );
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => (element ? namesIn(element) : []));
    case "AssignmentPattern":
      return namesIn(pattern.left);
    case "RestElement":
      return namesIn(pattern.argument);
    default:
      return [];
  }
}
