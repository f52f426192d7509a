/** Strikes credentials out of text that is going to be read by an operator: error messages and URLs quote them. */

const PATTERNS: [pattern: RegExp, replacement: string][] = [
  // The query parameter and the cookie `token`, in a URL or a header.
  [/([?&;\s"]|^)((?:[a-z_]*token|secret|signature|password)=)[^&;\s"\\]+/gi, "$1$2*****"],
  // RFC 6750 §2.1, RFC 7617.
  [/\b(bearer|basic)(\s+)[\w.~+/=-]{8,}/gi, "$1$2*****"],
  // user:password@ of a URL.
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"]*:)[^\s@"]+@/gi, "$1*****@"],
];

/** The text with what looks like a token, a password or a signature replaced by `*****`. */
export function withoutCredentials(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
  return clean;
}
