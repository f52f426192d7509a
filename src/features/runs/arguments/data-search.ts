/**
 * Characters that are searched at most, which takes some 50 ms. Without a limit, many references in large data would
 * hold up the server.
 */
const MAX_SEARCHED = 50_000_000;

/**
 * Creates the search for references in data.
 * @param texts all texts of the data
 * @returns whether a text occurs in the data; also true once too much was searched, so that the text is not resolved
 */
export function createDataSearch(texts: readonly string[]): (text: string) => boolean {
  const length = texts.reduce((sum, text) => sum + text.length + 1, 0);
  let searched = 0;
  return (text) => {
    searched += length;
    return searched > MAX_SEARCHED || texts.some((other) => other.includes(text));
  };
}
