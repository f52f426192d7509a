/** Lists that the interface tells in pages. */

/** The most that it tells at once. */
const PER_PAGE = 10_000;

/** All rows, page by page: a list is never cut off without a word. */
export async function allPages<T>(
  ask: (paging: { page: number; per_page: number }) => Promise<T[]>,
): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; ; page++) {
    const some = await ask({ page, per_page: PER_PAGE });
    all.push(...some);
    if (some.length < PER_PAGE) return all;
  }
}
