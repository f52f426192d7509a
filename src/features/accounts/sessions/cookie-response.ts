/** Creates a plain-text response that sets cookies. */
export function createTextResponse(body: string, cookies: readonly string[], status = 200): Response {
  const headers = new Headers({ "content-type": "text/plain; charset=utf-8" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(body, { status, headers });
}
