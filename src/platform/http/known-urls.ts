/**
 * URLs of webhooks that the router has matched before. A sender calls the same URL again and again, and parsing it costs
 * as much as all checks of its call.
 */

type Handle = (request: Request) => Promise<Response>;

interface KnownUrls {
  /** Returns what answers requests to this URL; undefined if the router has to find it. */
  find(request: Request): Handle | undefined;
  remember(request: Request, handle: Handle): void;
}

/** Beyond that all are forgotten. */
const MAX_URLS = 1_000;
/** Longer ones are not remembered. */
const MAX_CHARACTERS = 500;

export function createKnownUrls(): KnownUrls {
  const handles = new Map<string, Handle>();
  return {
    find: (request) => handles.get(keyOf(request)),
    remember(request, handle) {
      const key = keyOf(request);
      if (key.length > MAX_CHARACTERS) return;
      if (handles.size >= MAX_URLS) handles.clear();
      handles.set(key, handle);
    },
  };
}

/** Returns the cache key of a request: its method and its URL without the query. */
function keyOf({ method, url }: Request): string {
  const end = url.indexOf("?");
  return `${method} ${end < 0 ? url : url.slice(0, end)}`;
}
