/** Connects an account of a provider, and reads its effects. */
import { type Ask, expectOk } from "../../../support/harness.ts";
import { Browser, type OAuthTest } from "../../../support/peers/identity-provider.ts";

/** Opens a browser in which a user is logged in. */
export function openBrowserAs({ server }: OAuthTest, token: string): Browser {
  const browser = new Browser();
  browser.cookies.set(new URL(server.url).host, new Map([["token", token]]));
  return browser;
}

export const postJson = (browser: Browser, url: string, body: object) =>
  browser.fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** Returns the parameters of the provider's redirect that connects an account. */
export async function connect(t: OAuthTest, token: string, search = "", client = "house") {
  const browser = openBrowserAs(t, token);
  const end = await browser.walk(
    `${t.server.url}/api/oauth/connect/${client}${search}`,
    `${t.server.url}/oauth/`,
    "ann",
  );
  const { code, state } = Object.fromEntries(end.searchParams) as { code: string; state: string };
  return { browser, end, code, state };
}

/** Connects an account as clients do: tokens, account, variable. */
export async function connectAccount(
  t: OAuthTest,
  { token, ask }: { token: string; ask: Ask },
  path = "u/admin/token",
) {
  const { browser, code, state } = await connect(t, token);
  const answer = await postJson(browser, `${t.server.url}/api/oauth/connect_callback/house`, { code, state });
  const tokens = (await answer.json()) as { access_token: string; refresh_token: string; expires_in: number };
  const account = { refresh_token: tokens.refresh_token, expires_in: tokens.expires_in, client: "house" };
  const id = Number((await expectOk(ask("POST", "/w/acme/oauth/create_account", account))).text);
  const variable = {
    path,
    value: tokens.access_token,
    is_secret: true,
    description: "",
    account: id,
    is_oauth: true,
  };
  await expectOk(ask("POST", "/w/acme/variables/create", variable));
  return { id, tokens, path };
}

export const readToken = async (ask: Ask, path = "u/admin/token") =>
  ask("GET", `/w/acme/variables/get_value/${path}`);
export const countRefreshes = (t: OAuthTest) =>
  t.idp.asked.filter(({ body }) => body.get("grant_type") === "refresh_token").length;

/** Moves the server's clock. */
export function advanceClock({ server }: OAuthTest, seconds: number): void {
  const { app } = server.server;
  const now = app.clock;
  Object.assign(app, { clock: () => new Date(now().getTime() + seconds * 1000) });
}

/** Whether the provider accepts an access token. */
export const isTokenAccepted = async ({ idp }: OAuthTest, token: string) =>
  (await fetch(`${idp.issuer}/me`, { headers: { authorization: `Bearer ${token}` } })).status === 200;
