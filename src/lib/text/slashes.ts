/** Slashes at the ends of URLs and paths. */

/** Removes the slashes at the end of a text, in one pass: a pattern such as `/\/+$/` takes quadratic time. */
export function removeTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end--;
  return text.slice(0, end);
}
