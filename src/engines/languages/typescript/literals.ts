import type { Node } from "@babel/types";

/** Returns the JSON value of a literal expression; undefined for other expressions. */
export function readLiteral(node: Node): unknown {
  switch (node.type) {
    case "StringLiteral":
    case "NumericLiteral":
    case "BooleanLiteral":
      return node.value;
    case "NullLiteral":
      return null;
    case "TemplateLiteral":
      return node.expressions.length === 0 ? node.quasis[0]!.value.cooked : undefined;
    case "UnaryExpression": {
      const value = readLiteral(node.argument);
      if (typeof value !== "number") return undefined;
      return node.operator === "-" ? -value : node.operator === "+" ? value : undefined;
    }
    case "ArrayExpression": {
      const values = node.elements.map((element) => (element ? readLiteral(element) : undefined));
      return values.includes(undefined) ? undefined : values;
    }
    case "ObjectExpression":
      return objectValue(node);
    case "TSAsExpression":
    case "TSSatisfiesExpression":
      return readLiteral(node.expression);
    default:
      return undefined;
  }
}

function objectValue(node: Extract<Node, { type: "ObjectExpression" }>): Record<string, unknown> | undefined {
  const object: Record<string, unknown> = {};
  for (const property of node.properties) {
    if (property.type !== "ObjectProperty" || property.computed) return undefined;
    const { key } = property;
    const name = key.type === "Identifier" ? key.name : key.type === "StringLiteral" ? key.value : undefined;
    const value = readLiteral(property.value);
    if (name === undefined || value === undefined) return undefined;
    object[name] = value;
  }
  return object;
}
