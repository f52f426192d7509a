/** Masks secrets in captures: names of fields that contain credentials, and the replacement of their values. */

export const MASK = "*****";

/**
 * Names of headers and query parameters with credentials. Standard HTTP authentication headers are left out
 * altogether.
 */
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
