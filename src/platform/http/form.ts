/** Bodies of multipart/form-data (RFC 7578) that operations read by themselves: JSON in one field, files beside it. */
import type { z } from "zod";
import { BadRequest } from "../../lib/errors.ts";
import { refuseDeep } from "../../lib/json/depth.ts";
import { parseFields } from "../../lib/json/json.ts";
import { checked, readBytes, refuseNul } from "./input.ts";

/**
 * @param limit most bytes of the whole body
 * @throws BadRequest for what is no form, PayloadTooLarge
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

/** The text of a field or a file; undefined when the form has none. */
export async function fieldOf(form: FormData, name: string): Promise<string | undefined> {
  const field = form.get(name);
  if (field === null) return undefined;
  return typeof field === "string" ? field : (field as Blob).text();
}

/** A field that holds JSON, checked as a body is. @throws BadRequest when it is missing, or not as it must be */
export async function jsonField<S extends z.ZodType>(
  form: FormData,
  name: string,
  schema: S,
): Promise<z.output<S>> {
  const text = await fieldOf(form, name);
  if (text === undefined) throw new BadRequest(`the form needs the field \`${name}\`, which holds JSON`);
  refuseDeep(text, `form field \`${name}\``);
  let value: unknown;
  try {
    value = parseFields(text);
  } catch (cause) {
    throw new BadRequest(`form field \`${name}\` is not JSON: ${(cause as Error).message}`);
  }
  refuseNul("body", value);
  return checked("body", schema, value) as z.output<S>;
}
