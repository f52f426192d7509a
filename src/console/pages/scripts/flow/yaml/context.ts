/** Determines the cursor's position in possibly incomplete YAML, and the JSON Schema at that position. */
export type JsonSchema = Record<string, unknown>;

export interface CursorPosition {
  /** Keys down to the mapping; `null` stands for a list item. */
  path: (string | null)[];
  /** Keys of the same mapping, with the text after them. */
  siblings: Record<string, string>;
  /** The key before the cursor, if a value is being entered. */
  key: string | undefined;
}

interface Line {
  /** Column of the dash, if the line starts a list item. */
  dash: number | undefined;
  /** Column of the key or value. */
  column: number;
  key: string | undefined;
  value: string;
}

function readLine(text: string): Line | undefined {
  const found = /^(\s*)((?:-\s+)*)(.*)$/.exec(text)!;
  const [, space = "", dashes = "", rest = ""] = found;
  if (rest === "" && dashes === "") return undefined;
  if (rest.startsWith("#")) return undefined;
  const pair = /^([\w$-]+):(?:\s+(.*))?$/.exec(rest);
  return {
    dash: dashes === "" ? undefined : space.length,
    column: space.length + dashes.length,
    key: pair?.[1],
    value: (pair?.[2] ?? "").trim(),
  };
}

/**
 * Returns the position of the cursor in the document.
 * @param lines all lines of the text
 * @param row the cursor's line, counted from 0
 * @param before text of that line before the cursor
 */
export function findCursorPosition(lines: string[], row: number, before: string): CursorPosition {
  const own = /^(\s*)((?:-\s+)*)(.*)$/.exec(before)!;
  const column = own[1]!.length + own[2]!.length;
  const key = /^([\w$-]+):\s+\S*$/.exec(own[3]!)?.[1];
  const path: (string | null)[] = [];
  const siblings: Record<string, string> = {};
  let isItem = own[2] !== "";
  let limit = isItem ? own[1]!.length : column;
  if (isItem) path.unshift(null);
  const collect = (line: Line) => {
    if (line.key !== undefined) siblings[line.key] = line.value;
  };
  // Following lines: the rest of the same mapping.
  for (const text of lines.slice(row + 1)) {
    const line = readLine(text);
    if (!line) continue;
    if (line.column < column || (line.dash !== undefined && line.dash < column)) break;
    if (line.column === column) collect(line);
  }
  let isOwn = !isItem;
  for (const text of lines.slice(0, row).reverse()) {
    const line = readLine(text);
    if (!line) continue;
    const { dash } = line;
    if (isOwn && line.column === column) collect(line);
    if (!isItem && line.column === limit && dash !== undefined) {
      // The first key of the list item that contains the cursor.
      path.unshift(null);
      [limit, isItem, isOwn] = [dash, true, false];
      continue;
    }
    const isParent = isItem ? line.column <= limit && dash === undefined : line.column < limit;
    const isParentInItem = isItem && dash !== undefined && dash < limit && line.column <= limit;
    if (!isParent && !isParentInItem) continue;
    isOwn = false;
    path.unshift(line.key ?? "");
    [limit, isItem] = [line.column, false];
    if (dash !== undefined) {
      path.unshift(null);
      [limit, isItem] = [dash, true];
    }
  }
  return { path, siblings, key };
}

const listOf = (value: unknown): JsonSchema[] => (Array.isArray(value) ? (value as JsonSchema[]) : []);

/** Lists all alternatives of a schema, with references resolved. */
function variants(schema: unknown, root: JsonSchema, depth = 0): JsonSchema[] {
  if (typeof schema !== "object" || schema === null || depth > 10) return [];
  const { $ref, anyOf, oneOf, allOf } = schema as JsonSchema;
  if (typeof $ref === "string") {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    const found = $ref === "#" ? root : (root.$defs as JsonSchema | undefined)?.[name];
    return variants(found, root, depth + 1);
  }
  const parts = [...listOf(anyOf), ...listOf(oneOf), ...listOf(allOf)];
  if (parts.length > 0) return parts.flatMap((part) => variants(part, root, depth + 1));
  return [schema as JsonSchema];
}

const propertiesOf = (schema: JsonSchema) => (schema.properties ?? {}) as Record<string, JsonSchema>;

/** Returns the schemas of the mapping at a position, restricted to the kind named by its `type`, if any. */
export function findSchemas(root: JsonSchema, { path, siblings }: CursorPosition): JsonSchema[] {
  let schemas = variants(root, root);
  for (const step of path) {
    schemas = schemas.flatMap((schema) =>
      variants(
        step === null ? schema.items : (propertiesOf(schema)[step] ?? schema.additionalProperties),
        root,
      ),
    );
  }
  const kind = siblings.type?.replace(/["']/g, "");
  const ofKind = schemas.filter((schema) => propertiesOf(schema).type?.const === kind);
  return kind && ofKind.length > 0 ? ofKind : schemas;
}

export interface Choice {
  label: string;
  detail: string;
}

/** Returns the possible completions at a position. */
export function listCompletions(root: JsonSchema, place: CursorPosition): Choice[] {
  const schemas = findSchemas(root, place);
  const found = new Map<string, Choice>();
  for (const schema of schemas) {
    if (place.key === undefined) {
      for (const [label, field] of Object.entries(propertiesOf(schema))) {
        if (label in place.siblings || found.has(label)) continue;
        found.set(label, {
          label,
          detail: listOf(schema.required).includes(label as never) ? "needed" : typeOf(field),
        });
      }
      continue;
    }
    for (const field of variants(propertiesOf(schema)[place.key], root)) {
      const values = [
        ...(field.const === undefined ? [] : [field.const]),
        ...(Array.isArray(field.enum) ? (field.enum as unknown[]) : []),
        ...(typesOf(field).includes("boolean") ? [true, false] : []),
      ];
      for (const value of values) found.set(String(value), { label: String(value), detail: "" });
    }
  }
  return [...found.values()];
}

const typesOf = ({ type }: JsonSchema): unknown[] => (Array.isArray(type) ? type : [type]);

function typeOf(field: JsonSchema): string {
  const types = [field, ...listOf(field.anyOf)].flatMap(typesOf);
  return types.filter((type) => typeof type === "string" && type !== "null").join(" or ");
}
