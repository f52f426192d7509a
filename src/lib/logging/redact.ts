/** Redacts credentials in texts for operators, such as error messages and URLs. */

const PATTERNS: [pattern: RegExp, replacement: string][] = [
  // Token parameters and cookies in a URL or header.
  [/([?&;\s"]|^)((?:[a-z_]*token|secret|signature|password)=)[^&;\s"\\]+/gi, "$1$2*****"],
  // RFC 6750 §2.1, RFC 7617.
  [/\b(bearer|basic)(\s+)[\w.~+/=-]{8,}/gi, "$1$2*****"],
  // user:password@ in a URL; the limits keep the time linear.
  [/(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@"]*:)[^\s@"]{1,1000}@/gi, "$1*****@"],
];

/** Replaces tokens, passwords and signatures by `*****`. */
export function redactCredentials(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
  return clean;
}
