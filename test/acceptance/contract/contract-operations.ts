/**
 * The operation tables of the contract, sections 4.2 to 4.9, from its text if available, or else from the
 * stored copy.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface ContractOperation {
  method: string;
  path: string;
  /** Marks in brackets after the path in the table. */
  marks: ("admin" | "SA" | "EE" | "no auth")[];
}

const KEPT = join(import.meta.dir, "contract-operations.txt");

/** The contract's text, if it is beside this checkout. */
export function contractFile(): string | undefined {
  return [process.env.SVC_CONTRACT, join(import.meta.dir, "../../../../shared/interface.txt")].find(
    (file) => file !== undefined && file !== "" && existsSync(file),
  );
}

/** The stored copy of the operations, one per line: method, path, marks. */
export function keptOperations(): ContractOperation[] {
  return readFileSync(KEPT, "utf8")
    .trim()
    .split("\n")
    .map((line) => {
      const [, method = "", path = "", marks = ""] = /^(\S+) (\S+) ?(.*)$/.exec(line) ?? [];
      return { method, path, marks: marksIn(marks) };
    });
}

/** The rows `| GET | /users/export (SA, EE) | … |` of the contract's text. */
export function readOperations(text: string): ContractOperation[] {
  return [...text.matchAll(/^\| (GET|POST|DELETE|PUT|PATCH) \| (\/\S+)(?: \(([^)]*)\))? \|/gm)].map(
    ([, method = "", path = "", marks = ""]) => ({ method, path, marks: marksIn(marks) }),
  );
}

export function toLine({ method, path, marks }: ContractOperation): string {
  return [method, path, marks.join(", ")].filter((part) => part !== "").join(" ");
}

function marksIn(text: string): ContractOperation["marks"] {
  return text.split(", ").filter((mark) => mark !== "") as ContractOperation["marks"];
}
