/** Security headers of responses, cookies from other sites, and trusted proxies. */
import { describe, expect, test } from "bun:test";
import { BadRequest } from "../../../src/lib/errors.ts";
import { parseTrustedProxies } from "../../../src/platform/http/guards/proxies.ts";
import { startTestServer } from "../../support/harness.ts";
import { server, setUpSecurity, token } from "./security-setup.ts";

setUpSecurity();

const nobody = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  server.as(undefined)(method, path, method === "GET" ? undefined : {}, headers);

describe("headers", () => {
  test("are set on results, errors and unknown URLs", async () => {
    for (const path of ["/version", "/nothing/here", "/w/acme/variables/list", "/users/whoami"]) {
      const { headers } = await nobody(path);
      expect([path, headers.get("x-content-type-options")]).toEqual([path, "nosniff"]);
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("same-origin");
      expect(headers.get("x-request-id")).toMatch(/^\S+$/);
      expect(headers.has("strict-transport-security")).toBe(false);
    }
  });

  test("keep what is read out of caches, unless the answer says otherwise", async () => {
    const read = async (path: string) => (await server.as(token)("GET", path)).headers.get("cache-control");
    for (const path of ["/users/whoami", "/w/acme/jobs/list", "/w/acme/jobs_u/get_args/x"]) {
      expect([path, await read(path)]).toEqual([path, "no-store"]);
    }
    expect(await read("/oidc/jwks")).toBe("public, max-age=3600");
  });

  test("a page of the server keeps its own, stricter ones", async () => {
    const fresh = await startTestServer();
    try {
      const page = await fetch(`${fresh.url}${await fresh.server.setupPath()}`);
      expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(page.headers.get("cache-control")).toBe("no-store");
      // Otherwise its form would be sent with `Origin: null`, as the form of another site.
      expect(page.headers.get("referrer-policy")).toBe("same-origin");
    } finally {
      await fresh.stop();
    }
  });

  test("a webhook can be called by pages of other sites", async () => {
    const { headers } = await server.as(token)("POST", "/w/acme/jobs/run_wait_result/p/u/admin/one", {});
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.has("x-frame-options")).toBe(false);
    // What it may send is the answer to the preflight request, which has no token.
    const url = `${server.url}/api/w/acme/jobs/run_wait_result/p/u/admin/one`;
    const preflight = await fetch(url, { method: "OPTIONS" });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization");
  });
});

describe("x-request-id", () => {
  test("is the caller's if valid, and otherwise a new one each time", async () => {
    const idOf = async (id?: string) =>
      (await nobody("/version", id === undefined ? {} : { "x-request-id": id })).headers.get("x-request-id");
    expect(await idOf("req_42-a.b:c")).toBe("req_42-a.b:c");
    for (const bad of ["two words", "x".repeat(129), '"quoted"', "a,b", ""]) {
      expect(await idOf(bad)).not.toBe(bad);
    }
    const made = await Promise.all(Array.from({ length: 20 }, () => idOf()));
    expect(new Set(made).size).toBe(20);
  });
});

describe("a call with the session cookie that changes something", () => {
  const change = (headers: Record<string, string>) =>
    nobody("/w/acme/jobs/run/p/u/admin/one", { cookie: `theme=dark; token=${token}`, ...headers }, "POST");
  const own = () => new URL(server.url).host;

  test.each([
    ["no browser", () => ({}), 201],
    ["a page of this server", () => ({ origin: server.url }), 201],
    ["a page of this server behind a proxy that took https off", () => ({ origin: `https://${own()}` }), 201],
    [
      "a page of this server, as the browser says",
      () => ({ "sec-fetch-site": "same-origin", origin: "null" }),
      201,
    ],
    ["the address bar", () => ({ "sec-fetch-site": "none" }), 201],
    ["another site", () => ({ origin: "https://evil.example" }), 401],
    ["another port", () => ({ origin: "http://127.0.0.1:1" }), 401],
    ["a sandboxed page", () => ({ origin: "null" }), 401],
    ["a host that ends alike", () => ({ origin: `http://evil${own()}` }), 401],
    ["another site, as the browser says", () => ({ "sec-fetch-site": "cross-site" }), 401],
    ["another subdomain, as the browser says", () => ({ "sec-fetch-site": "same-site" }), 401],
    ["a new word of the browser's", () => ({ "sec-fetch-site": "unheard-of" }), 401],
    [
      "who names a proxy nobody trusts",
      () => ({ origin: "https://evil.example", "x-forwarded-host": "evil.example" }),
      401,
    ],
  ] as const)("from %s", async (_, headers, status) => {
    const answer = await change(headers());
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
    if (status === 401) expect(answer.text).toContain("the cookie counts only for pages of this server");
  });

  test("a token in the header or the query is accepted from anywhere", async () => {
    const from = { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" };
    expect((await change({ ...from, authorization: `Bearer ${token}` })).status).toBe(201);
    const path = `/w/acme/jobs/run/p/u/admin/one?token=${token}`;
    expect((await nobody(path, from, "POST")).status).toBe(201);
  });

  test("another site cannot log a browser in or out", async () => {
    const from = { "sec-fetch-site": "cross-site", cookie: `token=${token}` };
    for (const path of ["/auth/login", "/auth/logout"]) {
      const answer = await server.as(undefined)("POST", path, '{"email":"a@b.c","password":"x"}', from);
      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([403, null]);
    }
    expect((await server.as(token)("GET", "/users/whoami")).status).toBe(200);
  });
});

test("the public address is the configured one, on whichever address the server listens", async () => {
  const public_server = await startTestServer({ base_url: "https://svc.example.org/" });
  try {
    const { token: session } = await public_server.user("ann");
    const change = (origin: string) =>
      public_server.as(undefined)("POST", "/users/tokens/create", {}, { cookie: `token=${session}`, origin });
    expect((await change("https://svc.example.org")).status).toBe(201);
    expect((await change("http://svc.example.org")).status).toBe(401);
    expect((await change("https://example.org")).status).toBe(401);
  } finally {
    await public_server.stop();
  }
});

test("the public address may change at run time: its pages then belong to the new one, no longer to the old", async () => {
  await using changing = await startTestServer();
  const { token: session } = await changing.user("ann");
  const change = async (origin: string) => {
    const headers = { cookie: `token=${session}`, origin };
    return (await changing.as(undefined)("POST", "/users/tokens/create", {}, headers)).status;
  };
  const login = async (origin: string) => {
    const credentials = { email: "ann@example.org", password: "ann-password" };
    return (await changing.as(undefined)("POST", "/auth/login", credentials, { origin })).status;
  };
  const move = (value: string | null) => changing.operator("POST", "/settings/global/base_url", { value });
  const first = "https://svc.example.org";
  const second = "https://moved.example.org";
  expect([await change(first), await login(first)]).toEqual([401, 403]);
  await move(`${first}/`);
  expect([await change(first), await login(first)]).toEqual([201, 200]);
  await move(second);
  expect([await change(first), await login(first)]).toEqual([401, 403]);
  expect([await change(second), await login(second)]).toEqual([201, 200]);
  await move(null);
  expect([await change(second), await change(changing.url)]).toEqual([401, 201]);
});

describe("proxies", () => {
  const settled = (trusted: string, ip: string, forwarded: string) => {
    const request = new Request("http://localhost/", { headers: { "x-forwarded-for": forwarded } });
    Object.defineProperty(request, "ip", { value: ip, configurable: true });
    parseTrustedProxies(trusted).applyForwardedFor(request);
    return (request as { ip?: string }).ip;
  };
  test.each([
    ["10.0.0.0/8", "10.1.2.3", "198.51.100.7", "198.51.100.7"],
    ["10.0.0.0/8", "203.0.113.9", "198.51.100.7", "203.0.113.9"],
    ["10.0.0.0/8", "10.1.2.3", "1.1.1.1, 198.51.100.7, 10.9.9.9", "198.51.100.7"],
    ["10.0.0.0/8", "10.1.2.3", "", "10.1.2.3"],
    ["10.0.0.0/8", "10.1.2.3", "198.51.100.7, nonsense", "10.1.2.3"],
    ["10.0.0.0/8", "10.1.2.3", "198.51.100.7:4711", "198.51.100.7"],
    ["10.1.2.3", "10.1.2.3", "[2001:db8::1]:4711", "2001:db8::1"],
    ["10.1.2.3", "10.1.2.4", "198.51.100.7", "10.1.2.4"],
    ["fd00::/8, 127.0.0.1", "fd12::1", "198.51.100.7, 127.0.0.1", "198.51.100.7"],
    ["10.0.0.0/8", "::ffff:10.1.2.3", "198.51.100.7", "198.51.100.7"],
    ["", "127.0.0.1", "198.51.100.7", "127.0.0.1"],
  ])("trusting %p, a connection from %s that forwards %p is of %s", (trusted, ip, forwarded, address) => {
    expect(settled(trusted, ip, forwarded)).toBe(address);
  });

  test.each(["10.0.0.0/33", "10.0.0/8", "proxy.local", "10.0.0.1/", "fd00::/129", "1.2.3.4/8/9"])(
    "%s is not a range",
    (range) => {
      expect(() => parseTrustedProxies(range)).toThrow(BadRequest);
      expect(() => parseTrustedProxies(`127.0.0.1, ${range}`)).toThrow(range);
    },
  );

  test("a trusted one sets scheme, host and caller; any other nothing", async () => {
    const told = {
      "x-forwarded-for": "198.51.100.7",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "svc.example.org",
    };
    const behind = await startTestServer({ trusted_proxies: "127.0.0.1, ::1" });
    try {
      const { token: session } = await behind.user("ann");
      const cookie = `token=${session}`;
      const create = (origin: string, headers: object) =>
        behind.as(undefined)("POST", "/users/tokens/create", {}, { cookie, origin, ...headers });
      const answer = await create("https://svc.example.org", told);
      expect(answer.status).toBe(201);
      expect(answer.headers.get("strict-transport-security")).toBe("max-age=31536000");
      expect((await create("http://svc.example.org", told)).status).toBe(401);
      expect((await create("https://svc.example.org", {})).status).toBe(401);
    } finally {
      await behind.stop();
    }
    const { headers } = await nobody("/version", told);
    expect(headers.has("strict-transport-security")).toBe(false);
  });
});

describe("excessive calls", () => {
  test("without credentials are rejected for a while, by address; others continue", async () => {
    const limited = await startTestServer({ anonymous_rate: 3, trusted_proxies: "127.0.0.1, ::1" });
    try {
      const { ask } = await limited.user("ann");
      const call = (address: string, path = "/version") =>
        limited.as(undefined)("GET", path, undefined, { "x-forwarded-for": address });
      for (let n = 0; n < 3; n++) expect((await call("198.51.100.7")).status).toBe(200);
      const refused = await call("198.51.100.7");
      expect([refused.status, refused.headers.get("svc-error")]).toEqual([429, "TooManyRequests"]);
      const wait = Number(refused.headers.get("retry-after"));
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(60);
      expect((await call("198.51.100.7", "/nothing/here")).status).toBe(429);
      expect((await call("198.51.100.8")).status).toBe(200);
      for (let n = 0; n < 5; n++) expect((await ask("GET", "/version")).status).toBe(200);
      expect((await limited.operator("GET", "/version")).status).toBe(200);

      // One caller has a whole network of IPv6 addresses.
      for (const host of ["1", "2", "3"]) expect((await call(`2001:db8::${host}`)).status).toBe(200);
      expect((await call("2001:db8:0:0:ffff::9")).status).toBe(429);
      expect((await call("2001:db8:0:1::9")).status).toBe(200);

      const later = Date.now() + 61_000;
      (limited.server.app as { clock: () => Date }).clock = () => new Date(later);
      expect((await call("198.51.100.7")).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });

  test("with invalid credentials are answered late, valid ones at once", async () => {
    const limited = await startTestServer({ failed_auth_rate: 2 });
    try {
      const { token: real } = await limited.user("ann");
      const time = async (value: string | undefined, status: number) => {
        const began = performance.now();
        expect((await limited.as(value)("GET", "/users/whoami")).status).toBe(status);
        return performance.now() - began;
      };
      await time("guess1", 401);
      await time(undefined, 401);
      const held = time("guess2", 401);
      await time(real, 200);
      expect(await held).toBeGreaterThan(1_900);
    } finally {
      await limited.stop();
    }
  });
});
