/** Routes that serve files from the workspace's object storage: one file, or a website. */

import { NotFound } from "../../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { createDownloadResponse } from "../../../assets/storage/download.ts";
import { type ObjectStore, parseFileKey } from "../../../assets/storage/object-store.ts";
import { openStore } from "../../../assets/storage/service.ts";
import type { HttpTrigger, StaticAssets } from "../tables.ts";

const INDEX_FILE = "index.html";

/** Pages share the API's origin, so they run in a sandbox. */
const SANDBOX_POLICY = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

/**
 * Serves a file.
 * @param owner the user with whose rights files are read
 * @param below path within a website; undefined at its root
 * @throws NotFound, BadRequest without a storage
 */
export async function serveFile(
  owner: WorkspaceContext,
  request: Request,
  route: HttpTrigger & { static_asset_config: StaticAssets },
  below: string | undefined,
): Promise<Response> {
  const { s3, storage, filename } = route.static_asset_config;
  const { pathname, search } = new URL(request.url);
  if (route.is_static_website && below === undefined && !pathname.endsWith("/")) {
    // Relative links need the trailing slash; without it they would resolve beside the website.
    // Without the dot, a part that the caller chooses could be another address: `https:elsewhere.example`.
    return new Response(null, {
      status: 308,
      headers: { location: `./${lastPathPart(pathname)}/${search}` },
    });
  }
  const store = await openStore(owner, { storage });
  if (!route.is_static_website) return serveObject(store, s3, request, filename);
  const asked =
    below === undefined || below === ""
      ? INDEX_FILE
      : pathname.endsWith("/")
        ? `${below}/${INDEX_FILE}`
        : below;
  const root = s3 === "" ? "" : `${s3}/`;
  try {
    return await serveObject(store, parseFileKey(root + asked), request, undefined);
  } catch (cause) {
    // A missing file may be a page that the website's own code renders (client-side routing).
    if (!(cause instanceof NotFound) || lastPathPart(asked).includes(".")) throw cause;
    return serveObject(store, root + INDEX_FILE, request, undefined);
  }
}

async function serveObject(
  store: ObjectStore,
  key: string,
  request: Request,
  filename: string | undefined,
): Promise<Response> {
  const named = filename === undefined ? "inline" : `inline; filename="${filename}"`;
  const answer = await createDownloadResponse(store, key, request, named).catch((cause) => {
    // The storage key is not revealed: the caller knows only the URL.
    throw cause instanceof NotFound ? new NotFound("there is no such file") : cause;
  });
  answer.headers.set("content-security-policy", SANDBOX_POLICY);
  answer.headers.set("cache-control", "no-cache");
  return answer;
}

function lastPathPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
