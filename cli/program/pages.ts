/** Reads lists that the API returns in pages. */

/** Maximum page size of the API. */
const PAGE_SIZE = 10_000;

/** Reads all rows, page by page, so that no list is silently truncated. */
export async function readAllPages<T>(
  ask: (paging: { page: number; per_page: number }) => Promise<T[]>,
): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; ; page++) {
    const some = await ask({ page, per_page: PAGE_SIZE });
    all.push(...some);
    if (some.length < PAGE_SIZE) return all;
  }
}
