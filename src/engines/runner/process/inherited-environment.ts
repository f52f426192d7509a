/** Environment variables that scripts inherit from the server: program paths, language, time zone and proxies. */

import { removeUrlCredentials } from "../../../lib/text/url-credentials.ts";

const INHERITED_NAMES = /^(PATH|TZ|LANG|LC_ALL|LC_CTYPE|no_proxy|NO_PROXY)$/;
const PROXY_NAMES = /^(https?_proxy|HTTPS?_PROXY)$/;

/** Returns the inherited variables. @param proxy_credentials whether to keep user and password in the proxies' URLs */
export function readInheritedEnvironment(proxy_credentials: boolean): Record<string, string> {
  const environment: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  for (const [name, value] of Object.entries(process.env)) {
    if (value === undefined) continue;
    if (INHERITED_NAMES.test(name)) environment[name] = value;
    if (PROXY_NAMES.test(name)) environment[name] = proxy_credentials ? value : removeUrlCredentials(value);
  }
  return environment;
}
