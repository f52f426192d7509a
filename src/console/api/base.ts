/** Initial values that the server writes into the HTML page. */

const readMetaTag = (name: string) =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;

/** Base path of the console, with a trailing slash; includes the path prefix of a proxy. */
export const BASE_PATH = new URL(readMetaTag("svc-root") ?? "./", location.href).pathname.replace(
  /^\/{2,}/,
  "/",
);

/** CSP nonce for style elements created at run time. */
export const NONCE = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";

/** Whether the browser sent a session, valid or not, when it loaded the page. */
export const HAS_SESSION = readMetaTag("svc-session") === "sent";

/** Returns a URL path on this server, such as `toServerPath("api/version")`. */
export const toServerPath = (path: string): string => BASE_PATH + path.replace(/^\/+/, "");

/** Returns a local storage key, distinct per base path: instances under one host do not share keys. */
export const getStorageKey = (name: string): string => `svc:${BASE_PATH}:${name}`;

/** Returns a local storage key of one user, because several users may share this browser. */
export const getUserStorageKey = (email: string, name: string): string =>
  getStorageKey(`by:${email}:${name}`);

/** Removes the local storage entries of a user. */
export function removeUserStorage(email: string): void {
  const prefix = getUserStorageKey(email, "");
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(prefix)) localStorage.removeItem(key);
  }
}
