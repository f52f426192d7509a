/** Bodies of multipart/form-data (RFC 7578) that operations parse by themselves: JSON in one field, files beside it. */
import { BadRequest } from "../../lib/errors.ts";
import { requireJsonDepth } from "../../lib/json/depth.ts";
import { parseSchemaJson } from "../../lib/json/json.ts";
import type * as z from "../../lib/zod/z.ts";
import { parseWithSchema, readBytes, requireNoNul } from "./input.ts";

/**
 * Parses the request's form.
 * @param limit maximum bytes of the whole body
 * @throws BadRequest for other bodies, PayloadTooLarge
 */
export async function readForm(request: Request, limit: number): Promise<FormData> {
  const headers = { "content-type": request.headers.get("content-type") ?? "" };
  const bytes = await readBytes(request, limit);
  try {
    return (await new Response(new Uint8Array(bytes), { headers }).formData()) as FormData;
  } catch {
    throw new BadRequest("the body must be multipart/form-data");
  }
}

/** Returns the text of a field or file; undefined if the form has none. */
export async function readField(form: FormData, name: string): Promise<string | undefined> {
  const field = form.get(name);
  if (field === null) return undefined;
  return typeof field === "string" ? field : (field as Blob).text();
}

/**
 * Parses a field that holds JSON, with the same checks as a JSON body.
 * @throws BadRequest if it is missing or invalid
 */
export async function parseJsonField<S extends z.ZodType>(
  form: FormData,
  name: string,
  schema: S,
): Promise<z.output<S>> {
  const text = await readField(form, name);
  if (text === undefined) throw new BadRequest(`the form needs the field \`${name}\`, which holds JSON`);
  requireJsonDepth(text, `form field \`${name}\``);
  let value: unknown;
  try {
    value = parseSchemaJson(text);
  } catch (cause) {
    throw new BadRequest(`form field \`${name}\` is not JSON: ${(cause as Error).message}`);
  }
  requireNoNul("body", value);
  return parseWithSchema("body", schema, value) as z.output<S>;
}
