/** Shared parts of the flow templates. */
import type { Fields } from "../../../../api/json.ts";

export interface Template {
  id: string;
  label: string;
  about: string;
  flow: Fields & { value: Fields };
}

export const createExpression = (expr: string): Fields => ({ type: "javascript", expr });

export const createCodeStep = (
  id: string,
  summary: string,
  content: string,
  input_transforms: Fields,
  more: Fields = {},
): Fields => ({
  id,
  summary,
  ...more,
  value: { type: "rawscript", language: "bun", content, input_transforms },
});

export const createInputSchema = (
  properties: Fields,
  required: string[] = Object.keys(properties),
): Fields => ({
  type: "object",
  properties,
  required,
});
