/** The parts of an OpenAPI 3.1 document, as far as they are written here. */

export interface Tag {
  name: string;
  description: string;
}

/** As much of a JSON Schema (2020-12) as is looked at here. */
export type Schema = Record<string, unknown>;

export interface Parameter {
  name: string;
  in: "path" | "query";
  required: boolean;
  description?: string;
  schema: Schema;
}

export interface Answer {
  $ref?: string;
  description?: string;
  content?: Record<string, { schema: Schema }>;
}

export interface DescribedOperation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, Answer>;
  "x-access": string;
}

export interface Description {
  openapi: string;
  info: { title: string; version: string; description: string };
  tags: Tag[];
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Schema> };
}
