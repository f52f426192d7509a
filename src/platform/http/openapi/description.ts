/** The parts of an OpenAPI 3.1 document that this server generates. */

export interface Tag {
  name: string;
  description: string;
}

/** The parts of JSON Schema (2020-12) that this server generates. */
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
