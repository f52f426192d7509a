/** The parts of an OpenAPI 3.1 document, as far as they are written here. */

export interface Tag {
  name: string;
  description: string;
}

/** A JSON Schema (2020-12), as far as it is used here. */
export type JsonSchema = Record<string, unknown>;

export interface DescribedParameter {
  name: string;
  in: "path" | "query";
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface DescribedResponse {
  $ref?: string;
  description?: string;
  content?: Record<string, { schema: JsonSchema }>;
}

export interface DescribedOperation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: DescribedParameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, DescribedResponse>;
  "x-access": string;
}

export interface ApiDescription {
  openapi: string;
  info: { title: string; version: string; description: string };
  tags: Tag[];
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, JsonSchema> };
}
