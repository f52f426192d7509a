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

export function* listChildNodes(node: Node): Generator<Node> {
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
      return new Set([...listLexicalNames(node.body), ...listHoistedNames(node)]);
    case "StaticBlock":
      return new Set([...listLexicalNames(node.body), ...listHoistedNames(node)]);
    case "BlockStatement":
      return new Set(listLexicalNames(node.body));
    case "SwitchStatement":
      return new Set(listLexicalNames(node.cases.flatMap((one) => one.consequent)));
    case "ForStatement":
      return node.init?.type === "VariableDeclaration" ? new Set(listLexicalNames([node.init])) : undefined;
    case "ForInStatement":
    case "ForOfStatement":
      return node.left.type === "VariableDeclaration" ? new Set(listLexicalNames([node.left])) : undefined;
    case "CatchClause":
      return node.param ? new Set(listPatternNames(node.param)) : undefined;
    case "ClassExpression":
      return node.id ? new Set([node.id.name]) : undefined;
    default:
      return undefined;
  }
}

function findFunctionNames(node: FunctionNode): Set<string> {
  const names = new Set(node.params.flatMap(listPatternNames));
  for (const name of listHoistedNames(node.body)) names.add(name);
  if (node.type === "FunctionExpression" && node.id) names.add(node.id.name);
  if (node.type !== "ArrowFunctionExpression") names.add("arguments");
  return names;
}

/** Returns the names of let, const, class and function, which are scoped to the block. */
function listLexicalNames(statements: Statement[]): string[] {
  return statements.flatMap((statement) => {
    if (statement.type === "VariableDeclaration") {
      return statement.kind === "var" ? [] : statement.declarations.flatMap(({ id }) => listPatternNames(id));
    }
    if (statement.type !== "FunctionDeclaration" && statement.type !== "ClassDeclaration") return [];
    return statement.id ? [statement.id.name] : [];
  });
}

/** Returns the names of var, which are scoped to the function. */
function listHoistedNames(node: Node): string[] {
  const own =
    node.type === "VariableDeclaration" && node.kind === "var"
      ? node.declarations.flatMap(({ id }) => listPatternNames(id))
      : [];
  const inner = [...listChildNodes(node)].filter(
    (child) => !isFunction(child) && child.type !== "StaticBlock",
  );
  return [...own, ...inner.flatMap(listHoistedNames)];
}

/** Returns the names bound by a pattern. */
function listPatternNames(pattern: Node): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        listPatternNames(property.type === "RestElement" ? property.argument : property.value),
      );
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => (element ? listPatternNames(element) : []));
    case "AssignmentPattern":
      return listPatternNames(pattern.left);
    case "RestElement":
      return listPatternNames(pattern.argument);
    default:
      return [];
  }
}
