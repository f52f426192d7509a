/**
 * Requests to servers that the operator has named: providers of logins, the licence's renewal, statistics, alerts, the
 * chat. Whoever runs the instance may name a server of their own network, so the host in the setting is allowed as it
 * stands. Where that server leads on to is not the operator's word any more: it is public, or in SVC_ALLOWED_TARGETS.
 */

import { BadRequest } from "../../lib/errors.ts";
import { hostOf } from "../../lib/network.ts";
import type { App } from "../app/context.ts";
import { OutgoingError } from "./connect.ts";
import { type OutgoingAnswer, type OutgoingRequest, sendRequest } from "./request.ts";
import { allowedTargets, type Targets } from "./targets.ts";

/** @param urls as the operator has set them; what is no URL names no host */
export function targetsNamedIn(app: App, urls: readonly (string | undefined)[]): Targets {
  const named = new Set(
    urls.flatMap((url) => (url !== undefined && URL.canParse(url) ? [hostOf(new URL(url))] : [])),
  );
  const others = allowedTargets(app);
  return { allows: (host, address) => named.has(host) || others.allows(host, address) };
}

type Asked = Omit<OutgoingRequest, "targets" | "max_redirects"> & { max_redirects?: number };

/**
 * Asks the server at a URL that a setting names.
 * @throws BadRequest that says why it could not be asked; any status that it answers with is an answer
 */
export async function askNamed(app: App, asked: Asked): Promise<OutgoingAnswer> {
  const targets = targetsNamedIn(app, [asked.url]);
  try {
    return await sendRequest({ max_redirects: 0, ...asked, targets });
  } catch (cause) {
    if (cause instanceof OutgoingError) throw new BadRequest(cause.message);
    throw cause;
  }
}

export const isSuccess = ({ status }: OutgoingAnswer) => status >= 200 && status < 300;
