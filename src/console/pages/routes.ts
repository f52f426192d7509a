/** Routes of all workspace pages, and which of them an address belongs to. */
import { createLazyPage } from "./lazy-page.tsx";
import { PAGES } from "./pages.ts";

export const routes = PAGES.map(({ path, nav, audience, load, prefetch }) => ({
  path: `/w/:workspace${path}`,
  below: path,
  nav,
  audience,
  prefetch,
  ...createLazyPage(load),
}));

const patterns = routes.map(({ path, load, prefetch }) => ({
  load,
  prefetch,
  pattern: new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[^/]+)").replace("*", ".+")}/?$`),
}));

/**
 * Returns the page of an address, and the named segments.
 * @param path below the console's base path
 */
export function findPage(path: string) {
  for (const { pattern, load, prefetch } of patterns) {
    const params = pattern.exec(path)?.groups;
    // Each pattern names the workspace.
    if (params) return { load, prefetch, params: params as { workspace: string } };
  }
  return undefined;
}
