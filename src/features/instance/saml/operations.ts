import { BadRequest } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { isSuccess, requestConfiguredUrl } from "../../../platform/outgoing/configured-targets.ts";
import { type IdentityProvider, MAX_METADATA_CHARS, readMetadata } from "./metadata.ts";

const RESPONSE_TIMEOUT_MS = 15_000;
const MAX_REDIRECTS = 3;

export const testMetadata = operation({
  name: "testMetadata",
  method: "POST",
  path: "/saml/test_metadata",
  access: "superAdmin",
  scope: { domain: "settings", action: "write" },
  summary:
    "Read the metadata of a SAML identity provider, given as XML or by its URL, and report errors in it",
  body: z.string({ error: "must be a JSON string: the metadata's XML, or the URL of it" }).min(1),
  responds: responds.text("what the metadata says"),
  audit: { operation: "settings.test_saml_metadata", action_kind: "Execute" },
  run: async (ctx, { body }) => {
    const xml = isMetadataUrl(body) ? await fetchMetadata(ctx.app, body.trim()) : body;
    const provider = await readMetadata(xml, ctx.app.clock());
    await ctx.write({ resource: provider.entity_id.slice(0, 200) }, async () => {});
    return describeProvider(provider);
  },
});

/** Whether the text is the URL of metadata instead of the XML. */
export function isMetadataUrl(text: string): boolean {
  return /^\s*https?:\/\//.test(text) && URL.canParse(text.trim());
}

function describeProvider({ entity_id, sign_on, certificates }: IdentityProvider): string {
  return [
    `identity provider ${entity_id}`,
    ...sign_on.map(({ binding, url }) => `single sign-on at ${url} (${binding})`),
    ...certificates.map(
      ({ subject, valid_to }) => `certificate of ${subject}, until ${valid_to.toISOString()}`,
    ),
  ].join("\n");
}

/** Fetches the metadata of an identity provider. @throws BadRequest */
async function fetchMetadata(app: App, url: string): Promise<string> {
  const answer = await requestConfiguredUrl(app, {
    url,
    method: "GET",
    headers: { accept: "application/samlmetadata+xml, application/xml, text/xml" },
    timeout_ms: RESPONSE_TIMEOUT_MS,
    max_bytes: MAX_METADATA_CHARS,
    oversize: "refused",
    max_redirects: MAX_REDIRECTS,
  });
  if (isSuccess(answer)) return answer.body.toString();
  throw new BadRequest(`${new URL(url).host} returned no metadata: it answered with status ${answer.status}`);
}

export const samlOperations: Operation[] = [testMetadata];
