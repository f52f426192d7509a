import { z } from "zod";
import { BadRequest } from "../../errors.ts";
import { readBytes } from "../../http/input.ts";
import { type Operation, operation, responds } from "../../http/operation.ts";
import { type IdentityProvider, MAX_METADATA, readMetadata } from "./metadata.ts";

const ANSWER_MS = 15_000;

export const testMetadata = operation({
  name: "testMetadata",
  method: "POST",
  path: "/saml/test_metadata",
  access: "superAdmin",
  scope: { domain: "settings", action: "write" },
  summary:
    "Read the metadata of a SAML identity provider, given as XML or by its URL, and say what is wrong with it",
  body: z.string({ error: "must be a JSON string: the metadata's XML, or the URL of it" }).min(1),
  responds: responds.text("what the metadata says"),
  audit: { operation: "settings.test_saml_metadata", action_kind: "Execute" },
  run: async (ctx, { body }) => {
    const xml = isUrl(body) ? await fetchMetadata(body.trim()) : body;
    const provider = await readMetadata(xml, ctx.app.clock());
    await ctx.write({ resource: provider.entity_id.slice(0, 200) }, async () => {});
    return describe(provider);
  },
});

/** Whether what stands for metadata is the address of it. */
export function isUrl(text: string): boolean {
  return /^\s*https?:\/\//.test(text) && URL.canParse(text.trim());
}

function describe({ entity_id, sign_on, certificates }: IdentityProvider): string {
  return [
    `identity provider ${entity_id}`,
    ...sign_on.map(({ binding, url }) => `single sign-on at ${url} (${binding})`),
    ...certificates.map(
      ({ subject, valid_to }) => `certificate of ${subject}, until ${valid_to.toISOString()}`,
    ),
  ].join("\n");
}

/** @throws BadRequest */
async function fetchMetadata(url: string): Promise<string> {
  const { host } = new URL(url);
  try {
    const response = await fetch(url, {
      headers: { accept: "application/samlmetadata+xml, application/xml, text/xml" },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (!response.ok)
      throw new BadRequest(`${host} gives no metadata: it answers with status ${response.status}`);
    return new TextDecoder().decode(await readBytes(response, MAX_METADATA));
  } catch (cause) {
    if (cause instanceof BadRequest) throw cause;
    const { name, code, message } = cause as { name?: string; code?: string; message?: string };
    const why = name === "TimeoutError" ? "no answer in time" : (code ?? message);
    throw new BadRequest(`the metadata cannot be fetched from ${host}: ${why}`);
  }
}

export const samlOperations: Operation[] = [testMetadata];
