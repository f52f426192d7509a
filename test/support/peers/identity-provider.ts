/** A real OpenID provider on loopback, and a browser for its pages. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import type { ConfigOverrides } from "../../../src/platform/config/config.ts";
import { startTestServer, type TestServer } from "../harness.ts";

/** Claims of a user. */
export interface Claims {
  email?: string;
  email_verified?: boolean;
  name?: string;
}

/** Response to every request, in place of the provider's own. */
export type Fault = { status?: number; body?: string; delay_ms?: number; headers?: Record<string, string> };

export interface IdentityProvider extends AsyncDisposable {
  issuer: string;
  client: { id: string; secret: string };
  /** Claims by login name; other users have an address at example.org. */
  people: Map<string, Claims>;
  /** Faults at addresses with this ending, until they are deleted. */
  trouble: Map<string, Fault>;
  /** Lifetime of an access token in seconds. */
  lifetime_s: number;
  /** Bodies of the requests to the token endpoint and to the revocation endpoint. */
  asked: { path: string; body: URLSearchParams }[];
  stop: () => Promise<void>;
}

/** @param back where it may redirect browsers to */
export async function startIdentityProvider(
  back: string[],
  secret = "s3cret of the client",
): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { id: "svc", secret };
  const idp: IdentityProvider = {
    issuer,
    client,
    people: new Map(),
    trouble: new Map(),
    lifetime_s: 3600,
    asked: [],
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    [Symbol.asyncDispose]: () => idp.stop(),
  };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: back,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      },
      {
        client_id: "public",
        token_endpoint_auth_method: "none",
        redirect_uris: back,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    features: { devInteractions: { enabled: true }, revocation: { enabled: true } },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        ...(idp.people.get(id) ?? { email: `${id}@example.org`, email_verified: true }),
      }),
    }),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ttl: {
      AccessToken: () => idp.lifetime_s,
      Session: 3600,
      Grant: 86_400,
      Interaction: 3600,
      IdToken: 3600,
      RefreshToken: 86_400,
    },
    cookies: { keys: ["for the tests"] },
  });
  const handle = provider.callback();
  server.on("request", async (request, response) => {
    const path = request.url!.split("?")[0]!;
    const trouble = [...idp.trouble].find(([end]) => path.endsWith(end))?.[1];
    if (trouble?.delay_ms) await Bun.sleep(trouble.delay_ms);
    if (trouble?.body !== undefined || trouble?.status !== undefined) {
      response.writeHead(trouble.status ?? 200, { "content-type": "application/json", ...trouble.headers });
      response.end(trouble.body ?? "");
      return;
    }
    if (request.method === "POST" && /^\/token/.test(path)) {
      const pieces: Buffer[] = [];
      try {
        for await (const piece of request) pieces.push(piece);
      } catch {
        // The caller has disconnected, at the end of its test.
        return;
      }
      const body = Buffer.concat(pieces).toString();
      idp.asked.push({ path, body: new URLSearchParams(body) });
      // The read body is passed on as the parsed one, which the provider also accepts.
      Object.assign(request, { body });
    }
    handle(request, response);
  });
  return idp;
}

/** Follows redirects, keeps cookies per host, and fills in forms: as much of a browser as the tests need. */
export class Browser {
  readonly cookies = new Map<string, Map<string, string>>();

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    const headers = new Headers(init.headers);
    if (jar.size > 0) headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [pair, ...attributes] = line.split("; ");
      const at = pair!.indexOf("=");
      const isGone = attributes.some(
        (text) => /^max-age=0$/i.test(text) || /expires=thu, 01 jan 1970/i.test(text),
      );
      if (isGone) jar.delete(pair!.slice(0, at));
      else jar.set(pair!.slice(0, at), pair!.slice(at + 1));
    }
    return response;
  }

  /**
   * Follows redirects until a page of `home` is reached, logging in as `person` and consenting to everything.
   * @returns that page's URL, which is not requested
   */
  async walk(url: string, home: string, person: string): Promise<URL> {
    let response = await this.fetch(url);
    for (let steps = 0; steps < 20; steps++) {
      const location = response.headers.get("location");
      if (location !== null) {
        url = new URL(location, url).href;
        if (url.startsWith(home)) return new URL(url);
        response = await this.fetch(url);
        continue;
      }
      const page = await response.text();
      const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
      const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1];
      if (!action || !prompt) throw new Error(`${response.status} at ${url}: ${page}`);
      url = new URL(action.replaceAll("&amp;", "&"), url).href;
      response = await this.fetch(url, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({
          prompt,
          ...(prompt === "login" && { login: person, password: "x" }),
        }).toString(),
      });
    }
    throw new Error(`the way from the provider does not end: ${url}`);
  }
}

export interface OAuthTest extends AsyncDisposable {
  server: TestServer;
  idp: IdentityProvider;
  /** Configures clients, all of the provider, under different names. */
  clients: (clients: Record<string, object>) => Promise<void>;
  /** Configuration for a client of the provider. */
  client: { id: string; secret: string; issuer: string };
}

/** A server, and a provider with it as the client `house`. */
export async function startOAuthTest(overrides: ConfigOverrides = {}): Promise<OAuthTest> {
  const server = await startTestServer(overrides);
  const names = ["house", "other", "chat"];
  const idp = await startIdentityProvider([
    ...names.map((name) => `${server.url}/user/login_callback/${name}`),
    ...names.map((name) => `${server.url}/oauth/callback/${name}`),
    `${server.url}/oauth/callback_chat`,
  ]);
  const client = { ...idp.client, issuer: idp.issuer };
  const clients = async (value: Record<string, object>) => {
    const answer = await server.operator("POST", "/settings/global/oauths", { value });
    if (answer.status !== 200) throw new Error(answer.text);
  };
  await clients({ house: client });
  return {
    server,
    idp,
    client,
    clients,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await idp.stop();
    },
  };
}
