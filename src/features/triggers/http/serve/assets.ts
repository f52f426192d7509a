/** Files of the workspace's object storage as the answer of a route: one file, or a website. */

import { NotFound } from "../../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { download } from "../../../assets/storage/download.ts";
import { openStore } from "../../../assets/storage/service.ts";
import { checkKey, type ObjectStore } from "../../../assets/storage/store.ts";
import type { HttpTrigger, StaticAssets } from "../tables.ts";

const INDEX = "index.html";

/** Its pages come from the address of the whole interface: they may run their own code, but apart from this origin. */
const POLICY = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

/**
 * @param owner in whose name files are read
 * @param below what of a website is asked for; undefined at its own place
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
    // A page's links are read from where it stands: without the slash they would lead beside the website.
    return new Response(null, { status: 308, headers: { location: `${lastPart(pathname)}/${search}` } });
  }
  const store = await openStore(owner, { storage });
  if (!route.is_static_website) return shown(store, s3, request, filename);
  const asked =
    below === undefined || below === "" ? INDEX : pathname.endsWith("/") ? `${below}/${INDEX}` : below;
  const root = s3 === "" ? "" : `${s3}/`;
  try {
    return await shown(store, checkKey(root + asked), request, undefined);
  } catch (cause) {
    // What is no file may be a page that the website's own code draws.
    if (!(cause instanceof NotFound) || lastPart(asked).includes(".")) throw cause;
    return shown(store, root + INDEX, request, undefined);
  }
}

async function shown(
  store: ObjectStore,
  key: string,
  request: Request,
  filename: string | undefined,
): Promise<Response> {
  const named = filename === undefined ? "inline" : `inline; filename="${filename}"`;
  const answer = await download(store, key, request, named).catch((cause) => {
    // The key is the storage's: whoever asks knows an address.
    throw cause instanceof NotFound ? new NotFound("there is no such file") : cause;
  });
  answer.headers.set("content-security-policy", POLICY);
  answer.headers.set("cache-control", "no-cache");
  return answer;
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
