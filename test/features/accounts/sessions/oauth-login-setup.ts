/** Logs in a browser with a provider, and reads the effects. */
import { eq } from "drizzle-orm";
import { users } from "../../../../src/features/tenancy/people/user-tables.ts";
import { Browser, type OAuthTest } from "../../../support/peers/identity-provider.ts";

/** A browser that returned from the provider, and the parameters of its return. */
export async function followLogin({ server }: OAuthTest, person: string, { client = "house", rd = "" } = {}) {
  const browser = new Browser();
  const search = rd ? `?rd=${encodeURIComponent(rd)}` : "";
  const end = await browser.walk(
    `${server.url}/api/oauth/login/${client}${search}`,
    `${server.url}/user/`,
    person,
  );
  const code = end.searchParams.get("code")!;
  const state = end.searchParams.get("state")!;
  const post = (body: object = { code, state }, at = client) =>
    browser.fetch(`${server.url}/api/oauth/login_callback/${at}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  return { browser, end, code, state, post };
}

export const userOf = async ({ server }: OAuthTest, email: string) =>
  (await server.server.app.db.read.select().from(users).where(eq(users.email, email)))[0];
