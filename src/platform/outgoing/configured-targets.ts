/**
 * Requests to servers that the instance's admins configured: login providers, license renewal, statistics, alerts,
 * chat, mail. Their hosts are allowed even in private networks. Redirect targets are not: they must be public or in
 * SVC_ALLOWED_TARGETS.
 */

import { BadRequest } from "../../lib/errors.ts";
import { getUrlHost } from "../../lib/network.ts";
import type { App } from "../app/context.ts";
import { OutgoingError } from "./connect.ts";
import { type OutgoingAnswer, type OutgoingRequest, sendRequest } from "./request.ts";
import { getConfiguredTargets, type Targets } from "./targets.ts";

/**
 * Returns targets that also allow the hosts of these URLs.
 * @param urls from settings; values that are not URLs are skipped
 */
export function allowConfiguredUrls(app: App, urls: readonly (string | undefined)[]): Targets {
  return allowHosts(
    app,
    urls.flatMap((url) => (url !== undefined && URL.canParse(url) ? [getUrlHost(new URL(url))] : [])),
  );
}

/** Returns targets that also allow these hosts, which settings name. */
export function allowHosts(app: App, hosts: readonly string[]): Targets {
  const named = new Set(hosts);
  const others = getConfiguredTargets(app);
  return { allows: (host, address) => named.has(host) || others.allows(host, address) };
}

type ConfiguredRequest = Omit<OutgoingRequest, "targets" | "max_redirects"> & { max_redirects?: number };

/**
 * Sends a request to a URL from a setting.
 * @throws BadRequest with the reason if there is no response; any status counts as a response
 */
export async function requestConfiguredUrl(app: App, asked: ConfiguredRequest): Promise<OutgoingAnswer> {
  const targets = allowConfiguredUrls(app, [asked.url]);
  try {
    return await sendRequest({ max_redirects: 0, ...asked, targets });
  } catch (cause) {
    if (cause instanceof OutgoingError) throw new BadRequest(cause.message);
    throw cause;
  }
}

export const isSuccess = ({ status }: OutgoingAnswer) => status >= 200 && status < 300;
