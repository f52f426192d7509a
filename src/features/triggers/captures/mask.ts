/** Secrets in what is captured: names that carry credentials, and what is shown instead of their values. */

export const MASK = "*****";

/** Names of headers and query parameters that carry credentials. Those of HTTP itself are left out altogether. */
export const SECRET_NAME =
  /(^|[-_])(auth|sig|jwt|pwd)([-_]|$)|signature|authorization|cookie|session|credential|passw|secret|token|(api|access|private)[-_]?key$|^key$/i;

/** Returns the URL with the values of secret-looking query parameters masked; an invalid URL is returned without query. */
export function maskQuerySecrets(url: string): string {
  if (!URL.canParse(url)) return url.split("?")[0]!;
  const to = new URL(url);
  for (const name of new Set(to.searchParams.keys())) {
    if (SECRET_NAME.test(name)) to.searchParams.set(name, MASK);
  }
  return to.href;
}
