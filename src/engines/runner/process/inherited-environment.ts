/** What scripts get of the server's own environment: where programs are, the language and time zone, and proxies. */

const PLAIN = /^(PATH|TZ|LANG|LC_ALL|LC_CTYPE|no_proxy|NO_PROXY)$/;
const PROXY = /^(https?_proxy|HTTPS?_PROXY)$/;

/** @param proxy_credentials whether scripts get the user and password that the proxies' URLs hold */
export function passedOn(proxy_credentials: boolean): Record<string, string> {
  const environment: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  for (const [name, value] of Object.entries(process.env)) {
    if (value === undefined) continue;
    if (PLAIN.test(name)) environment[name] = value;
    if (PROXY.test(name)) environment[name] = proxy_credentials ? value : withoutCredentials(value);
  }
  return environment;
}

/** Everything up to the last @ before the host's end is a user and password, also where there is no scheme. */
function withoutCredentials(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/?#]*@/i, "$1");
}
