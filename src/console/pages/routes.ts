/** Routes of all workspace pages, and which of them an address belongs to. */
import { createLazyPage } from "./lazy-page.tsx";
import { PAGES } from "./pages.ts";

export const routes = PAGES.map(({ path, nav, audience, load }) => ({
  path: `/w/:workspace${path}`,
  below: path,
  nav,
  audience,
  ...createLazyPage(load),
}));

const patterns = routes.map(({ path, load }) => ({
  load,
  pattern: new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[^/]+)").replace("*", ".+")}/?$`),
}));

/**
 * Returns the page of an address, and the named segments.
 * @param path below the console's base path
 */
export function findPage(path: string) {
  for (const { pattern, load } of patterns) {
    const params = pattern.exec(path)?.groups;
    if (params) return { load, params };
  }
  return undefined;
}
