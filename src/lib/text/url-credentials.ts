/** Separates the proxies of Go's module lists. */
const LIST_SEPARATOR = /([,|](?=[a-z][a-z0-9+.-]*:\/\/|direct\b|off\b))/i;

/** Removes user and password from a URL, or from each of a list. The scheme may be missing. */
export function removeUrlCredentials(urls: string): string {
  const each = urls.split(LIST_SEPARATOR);
  // Everything up to the last @ before the end of the host.
  return each.map((url) => url.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/?#]*@/i, "$1")).join("");
}
