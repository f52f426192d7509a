/** Lets the thread serve others: long work in pieces awaits this between two of them. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
