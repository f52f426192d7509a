/** Converts TypeScript types to JSON Schema, as far as they describe JSON. */
import type { Node, Statement } from "@babel/types";
import type { ParameterSchema } from "../types.ts";

/** Types declared in the file, by name. */
export type TypeTable = Map<string, Node>;

export function collectTypes(body: Statement[]): TypeTable {
  const types: TypeTable = new Map();
  for (const statement of body) {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    switch (declared?.type) {
      case "TSTypeAliasDeclaration":
        types.set(declared.id.name, declared.typeAnnotation);
        break;
      case "TSInterfaceDeclaration":
      case "TSEnumDeclaration":
        types.set(declared.id.name, declared);
    }
  }
  return types;
}

/** Adds type parameters as their constraints, or as unknown. */
export function addTypeParameters(types: TypeTable, fn: Node): TypeTable {
  const declared = (fn as { typeParameters?: Node | null }).typeParameters;
  if (declared?.type !== "TSTypeParameterDeclaration") return types;
  const known: TypeTable = new Map(types);
  for (const { name, constraint } of declared.params) known.set(name.name, constraint ?? UNKNOWN_TYPE);
  return known;
}

const UNKNOWN_TYPE = { type: "TSUnknownKeyword" } as Node;

/** Whether a type includes `undefined` or `null`. */
export function isOptionalType(type: Node, types: TypeTable): boolean {
  if (type.type === "TSUnionType")
    return type.types.some((member) => isNothing(member) || isOptionalType(member, types));
  const named = type.type === "TSTypeReference" ? types.get(nameOf(type)) : undefined;
  return named !== undefined && named.type === "TSUnionType" && isOptionalType(named, new Map());
}

function isNothing(type: Node): boolean {
  return type.type === "TSUndefinedKeyword" || type.type === "TSNullKeyword" || type.type === "TSVoidKeyword";
}

const MAX_DEPTH = 8;

/**
 * Converts a TypeScript type to JSON Schema.
 * @param around enclosing types, outermost first; a recursive type ends there
 */
export function typeToSchema(type: Node, types: TypeTable, around: readonly Node[] = []): ParameterSchema {
  if (around.length > MAX_DEPTH || around.includes(type)) return {};
  const nested = (node: Node) => typeToSchema(node, types, [...around, type]);
  switch (type.type) {
    case "TSStringKeyword":
      return { type: "string" };
    case "TSNumberKeyword":
      return { type: "number" };
    case "TSBooleanKeyword":
      return { type: "boolean" };
    case "TSBigIntKeyword":
      return { type: "integer" };
    case "TSObjectKeyword":
      return { type: "object" };
    case "TSParenthesizedType":
      return nested(type.typeAnnotation);
    case "TSTypeOperator":
      return nested(type.typeAnnotation as Node);
    case "TSArrayType":
      return { type: "array", items: nested(type.elementType) };
    case "TSTupleType":
      return {
        type: "array",
        prefixItems: type.elementTypes.map((element) => nested(tupleElement(element))),
      };
    case "TSLiteralType":
      return literalSchema(type.literal);
    case "TSTemplateLiteralType":
      return { type: "string" };
    case "TSTypeLiteral":
      return objectSchema(type.members, nested);
    case "TSInterfaceDeclaration":
      return objectSchema(type.body.body, nested);
    case "TSEnumDeclaration":
      return enumSchema(type);
    case "TSUnionType":
      return unionSchema(type.types, nested);
    case "TSIntersectionType":
      return intersectionSchema(type.types.map(nested));
    case "TSTypeReference":
      return referenceSchema(type, types, nested);
    default:
      return {};
  }
}

function tupleElement(element: Node): Node {
  if (element.type === "TSNamedTupleMember") return element.elementType;
  return element.type === "TSOptionalType" || element.type === "TSRestType"
    ? element.typeAnnotation
    : element;
}

function literalSchema(literal: Node): ParameterSchema {
  if (
    literal.type === "StringLiteral" ||
    literal.type === "NumericLiteral" ||
    literal.type === "BooleanLiteral"
  ) {
    return { type: typeof literal.value, enum: [literal.value] };
  }
  if (literal.type === "UnaryExpression" && literal.argument.type === "NumericLiteral") {
    return { type: "number", enum: [-literal.argument.value] };
  }
  return { type: "string" };
}

function objectSchema(members: Node[], nested: (node: Node) => ParameterSchema): ParameterSchema {
  const properties: Record<string, ParameterSchema> = {};
  const required: string[] = [];
  for (const member of members) {
    if (member.type !== "TSPropertySignature") continue;
    const { key } = member;
    const name = key.type === "Identifier" ? key.name : key.type === "StringLiteral" ? key.value : undefined;
    if (name === undefined) continue;
    const annotation = member.typeAnnotation as
      | Extract<Node, { type: "TSTypeAnnotation" }>
      | null
      | undefined;
    const type = annotation?.typeAnnotation;
    properties[name] = type ? nested(type) : {};
    if (!member.optional && !(type && isOptionalType(type, new Map()))) required.push(name);
  }
  return { type: "object", properties, required, order: Object.keys(properties) };
}

function enumSchema(declaration: Extract<Node, { type: "TSEnumDeclaration" }>): ParameterSchema {
  const values: (string | number)[] = [];
  let next = 0;
  for (const { initializer } of declaration.body.members) {
    if (initializer?.type === "StringLiteral") values.push(initializer.value);
    else {
      if (initializer?.type === "NumericLiteral") next = initializer.value;
      values.push(next++);
    }
  }
  const kinds = new Set(values.map((value) => typeof value));
  return { ...(kinds.size === 1 ? { type: [...kinds][0] } : {}), enum: values };
}

function unionSchema(members: Node[], nested: (node: Node) => ParameterSchema): ParameterSchema {
  const schemas = members.filter((member) => !isNothing(member)).map(nested);
  if (schemas.length === 0) return {};
  if (schemas.length === 1) return schemas[0]!;
  if (schemas.every((schema) => Array.isArray(schema.enum))) {
    const kinds = new Set(schemas.map((schema) => schema.type));
    const values = [...new Set(schemas.flatMap((schema) => schema.enum as unknown[]))];
    return { ...(kinds.size === 1 && schemas[0]!.type ? { type: schemas[0]!.type } : {}), enum: values };
  }
  return { oneOf: schemas };
}

function intersectionSchema(schemas: ParameterSchema[]): ParameterSchema {
  if (!schemas.every((schema) => schema.type === "object" && schema.properties)) return { allOf: schemas };
  const properties = Object.assign({}, ...schemas.map((schema) => schema.properties)) as Record<
    string,
    ParameterSchema
  >;
  const required = [...new Set(schemas.flatMap((schema) => (schema.required as string[] | undefined) ?? []))];
  return { type: "object", properties, required, order: Object.keys(properties) };
}

type Reference = Extract<Node, { type: "TSTypeReference" }>;

/** Returns the last part of a qualified name: `RT.Postgresql` → `Postgresql`. */
function nameOf(type: Reference): string {
  const { typeName } = type;
  return typeName.type === "Identifier"
    ? typeName.name
    : typeName.type === "TSQualifiedName"
      ? typeName.right.name
      : "";
}

function referenceSchema(
  type: Reference,
  types: TypeTable,
  nested: (node: Node) => ParameterSchema,
): ParameterSchema {
  const name = nameOf(type);
  const known = types.get(name);
  if (known) return toResourceSchema(name, known, nested(known));
  const parameters = typeArgumentsOf(type);
  switch (name) {
    case "Date":
      return { type: "string", format: "date-time" };
    case "Array":
    case "ReadonlyArray":
    case "Set":
      return { type: "array", items: parameters[0] ? nested(parameters[0]) : {} };
    case "Record":
      return { type: "object", additionalProperties: parameters[1] ? nested(parameters[1]) : {} };
    case "Partial": {
      const whole = parameters[0] ? nested(parameters[0]) : {};
      return { ...whole, required: [] };
    }
    case "Required":
    case "Readonly":
    case "NonNullable":
    case "Promise":
      return parameters[0] ? nested(parameters[0]) : {};
    case "Base64":
      return { type: "string", contentEncoding: "base64" };
    case "S3Object":
      return { type: "object", format: "resource-s3_object" };
    case "Object":
      return { type: "object" };
    case "":
      return {};
  }
  return isResourceName(name) ? { type: "object", format: toResourceFormat(name) } : {};
}

/** By convention, a capitalised type is a resource of that type; one declared in the file also has its fields. */
function toResourceSchema(name: string, declared: Node, schema: ParameterSchema): ParameterSchema {
  const isObject = declared.type === "TSTypeLiteral" || declared.type === "TSInterfaceDeclaration";
  if (!isObject || !isResourceName(name) || schema.type !== "object") return schema;
  const { type, ...fields } = schema;
  return { type, format: toResourceFormat(name), ...fields };
}

const isResourceName = (name: string) => /^[A-Z]/.test(name);

const toResourceFormat = (name: string) => `resource-${toSnakeCase(name)}`;

function typeArgumentsOf(type: Reference): Node[] {
  const list = type as {
    typeParameters?: { params: Node[] } | null;
    typeArguments?: { params: Node[] } | null;
  };
  return (list.typeArguments ?? list.typeParameters)?.params ?? [];
}

/** Converts `HTTPRequest2` to `http_request2`. */
function toSnakeCase(name: string): string {
  return name.replace(/(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z])/g, "_").toLowerCase();
}
