/** Classifies results by their shape for rendering. */
import { isRecord, writeJson } from "../../../api/json.ts";
import type { StoredFile } from "./views/FileResult.tsx";

export type ClassifiedResult =
  | { kind: "nothing" }
  | { kind: "text"; text: string }
  | { kind: "html"; html: string }
  | { kind: "image"; src: string }
  | { kind: "markdown"; text: string }
  | { kind: "patch"; text: string }
  | { kind: "difference"; before: string; after: string }
  | { kind: "file"; name: string; base64: string; type: string }
  | { kind: "stored"; files: StoredFile[] }
  | { kind: "numbers"; columns: string[]; rows: Record<string, unknown>[] }
  | { kind: "several"; values: unknown[] }
  | { kind: "table"; columns: string[]; rows: Record<string, unknown>[] }
  | { kind: "error"; name: string; message: string; stack: string; step: string | undefined }
  | { kind: "json" };

const IMAGES: Record<string, string> = {
  png: "image/png",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : isRecord(value) ? String(value.content ?? "") : "";

/** Wider tables are rendered as trees. */
const MAX_COLUMNS = 40;

export function toTable(value: unknown): Extract<ClassifiedResult, { kind: "table" }> | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  if (value.every(isRecord)) {
    const columns = [...new Set(value.slice(0, 200).flatMap((row) => Object.keys(row)))];
    return columns.length > 0 && columns.length <= MAX_COLUMNS
      ? { kind: "table", columns, rows: value }
      : undefined;
  }
  if (value.length < 2 || !value.every((row) => Array.isArray(row) && row.length === value[0].length))
    return undefined;
  const [head, ...rest] = value as unknown[][];
  if (!head!.every((name) => typeof name === "string") || new Set(head).size !== head!.length)
    return undefined;
  const columns = head as string[];
  return {
    kind: "table",
    columns,
    rows: rest.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]]))),
  };
}

/** Matches the error object of failed runs. */
function matchError(value: unknown): ClassifiedResult | undefined {
  if (!isRecord(value) || !isRecord(value.error)) return undefined;
  const { name, message, stack, step_id } = value.error;
  if (typeof message !== "string" && typeof name !== "string") return undefined;
  return {
    kind: "error",
    name: String(name ?? "Error"),
    message: String(message ?? ""),
    stack: typeof stack === "string" ? stack : "",
    step: typeof step_id === "string" ? step_id : undefined,
  };
}

/** Fewer numbers are easier to read as a list. */
const MIN_CHART_NUMBERS = 4;

function numbersOf(value: unknown): ClassifiedResult | undefined {
  if (!Array.isArray(value) || value.length < MIN_CHART_NUMBERS) return undefined;
  if (!value.every((each) => typeof each === "number" || typeof each === "bigint")) return undefined;
  return { kind: "numbers", columns: ["value"], rows: value.map((each) => ({ value: each })) };
}

/** Matches a reference to a file in the workspace's storage. */
function matchStoredFile(value: unknown): StoredFile | undefined {
  if (!isRecord(value) || typeof value.s3 !== "string" || value.s3 === "") return undefined;
  return { key: value.s3, storage: typeof value.storage === "string" ? value.storage : undefined };
}

const NAMES_OF_SIDES = [
  ["before", "after"],
  ["old", "new"],
  ["original", "modified"],
] as const;

/** Matches `{ diff: … }`: a unified diff, or two texts or values to compare. */
function matchDiff(value: unknown): ClassifiedResult | undefined {
  if (typeof value === "string") return { kind: "patch", text: value };
  if (!isRecord(value)) return undefined;
  const names = NAMES_OF_SIDES.find((sides) => sides.every((side) => side in value));
  if (!names) return undefined;
  const [before, after] = names.map((side) => {
    const text = value[side];
    return typeof text === "string" ? text : writeJson(text, 2);
  });
  return { kind: "difference", before: before!, after: after! };
}

const PATCH = /^(diff --git |--- \S.*\n\+\+\+ \S)/;

/** Matches objects whose single field names the format. */
function matchNamedFormat(value: Record<string, unknown>): ClassifiedResult | undefined {
  const [name, ...more] = Object.keys(value);
  const stored = matchStoredFile(value);
  if (stored) return { kind: "stored", files: [stored] };
  if (name === undefined || (more.length > 0 && !(name === "file" || "filename" in value))) return undefined;
  const inner = value[name];
  if (IMAGES[name] && textOf(inner) !== "")
    return { kind: "image", src: `data:${IMAGES[name]};base64,${textOf(inner)}` };
  if (name === "svg" && textOf(inner) !== "") {
    return { kind: "image", src: `data:image/svg+xml,${encodeURIComponent(textOf(inner))}` };
  }
  if (name === "html" && textOf(inner) !== "") return { kind: "html", html: textOf(inner) };
  if ((name === "md" || name === "markdown") && textOf(inner) !== "")
    return { kind: "markdown", text: textOf(inner) };
  if (name === "text" && textOf(inner) !== "") return { kind: "text", text: textOf(inner) };
  if (name === "diff") return matchDiff(inner);
  if (name === "render_all" && Array.isArray(inner)) return { kind: "several", values: inner };
  if (name === "pdf")
    return { kind: "file", name: "result.pdf", base64: textOf(inner), type: "application/pdf" };
  if (name === "file" && textOf(inner) !== "") {
    const told = (isRecord(inner) ? inner.filename : undefined) ?? value.filename;
    return {
      kind: "file",
      name: String(told ?? "result"),
      base64: textOf(inner),
      type: "application/octet-stream",
    };
  }
  return undefined;
}

export function classifyResult(value: unknown): ClassifiedResult {
  if (value === null || value === undefined) return { kind: "nothing" };
  if (typeof value === "string") return { kind: PATCH.test(value) ? "patch" : "text", text: value };
  if (Array.isArray(value) && value.length > 0) {
    const stored = value.map(matchStoredFile);
    if (stored.every((each) => each !== undefined)) return { kind: "stored", files: stored };
  }
  const numbers = numbersOf(value);
  if (numbers) return numbers;
  const table = toTable(value);
  if (table) return table;
  if (isRecord(value)) return matchError(value) ?? matchNamedFormat(value) ?? { kind: "json" };
  return { kind: "json" };
}
