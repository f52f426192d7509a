/** Finds the names declared by functions, blocks, loops and catch clauses (ECMA-262 §8.2). */
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

export function* childNodes(node: Node): Generator<Node> {
  for (const [key, value] of Object.entries(node)) {
    if (key === "loc" || key === "extra") continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === "object" && child !== null && "type" in child) yield child as Node;
    }
  }
}

/** Returns the names declared by a node for its inside; undefined for nodes that declare none. */
export function findDeclaredNames(node: Node): Set<string> | undefined {
  if (isFunction(node)) return findFunctionNames(node);
  switch (node.type) {
    case "Program":
      return new Set([...lexicalNames(node.body), ...hoistedNames(node)]);
    case "StaticBlock":
      return new Set([...lexicalNames(node.body), ...hoistedNames(node)]);
    case "BlockStatement":
      return new Set(lexicalNames(node.body));
    case "SwitchStatement":
      return new Set(lexicalNames(node.cases.flatMap((one) => one.consequent)));
    case "ForStatement":
      return node.init?.type === "VariableDeclaration" ? new Set(lexicalNames([node.init])) : undefined;
    case "ForInStatement":
    case "ForOfStatement":
      return node.left.type === "VariableDeclaration" ? new Set(lexicalNames([node.left])) : undefined;
    case "CatchClause":
      return node.param ? new Set(patternNames(node.param)) : undefined;
    case "ClassExpression":
      return node.id ? new Set([node.id.name]) : undefined;
    default:
      return undefined;
  }
}

function findFunctionNames(node: FunctionNode): Set<string> {
  const names = new Set(node.params.flatMap(patternNames));
  for (const name of hoistedNames(node.body)) names.add(name);
  if (node.type === "FunctionExpression" && node.id) names.add(node.id.name);
  if (node.type !== "ArrowFunctionExpression") names.add("arguments");
  return names;
}

/** Returns the names of let, const, class and function, which are scoped to the block. */
function lexicalNames(statements: Statement[]): string[] {
  return statements.flatMap((statement) => {
    if (statement.type === "VariableDeclaration") {
      return statement.kind === "var" ? [] : statement.declarations.flatMap(({ id }) => patternNames(id));
    }
    if (statement.type !== "FunctionDeclaration" && statement.type !== "ClassDeclaration") return [];
    return statement.id ? [statement.id.name] : [];
  });
}

/** Returns the names of var, which are scoped to the function. */
function hoistedNames(node: Node): string[] {
  const own =
    node.type === "VariableDeclaration" && node.kind === "var"
      ? node.declarations.flatMap(({ id }) => patternNames(id))
      : [];
  const inner = [...childNodes(node)].filter((child) => !isFunction(child) && child.type !== "StaticBlock");
  return [...own, ...inner.flatMap(hoistedNames)];
}

/** Returns the names bound by a pattern. */
function patternNames(pattern: Node): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        patternNames(property.type === "RestElement" ? property.argument : property.value),
      );
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => (element ? patternNames(element) : []));
    case "AssignmentPattern":
      return patternNames(pattern.left);
    case "RestElement":
      return patternNames(pattern.argument);
    default:
      return [];
  }
}
