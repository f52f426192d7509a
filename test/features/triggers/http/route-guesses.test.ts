/** Guessing the credentials of a route. */
import { expect, test } from "bun:test";
import { expectOk } from "../../../support/harness.ts";
import { ask, create, nextNumber, nobody, server, setUpRoutes } from "./http-triggers-setup.ts";

setUpRoutes();

test("is limited to a hundred different ones a minute per network and route; outdated ones lock nobody out", async () => {
  const at = `u/admin/guessed_${nextNumber()}`;
  const value = { username: "shop", password: "open sesame" };
  await expectOk(ask("POST", "/w/acme/resources/create", { path: at, value, resource_type: "any" }));
  const asks = {
    authentication_method: "basic_http",
    authentication_resource_path: at,
    request_type: "async",
  };
  const [guessed, other] = [await create(asks), await create(asks)];
  const send = async (password: string, { url } = guessed) => {
    const authorization = `Basic ${Buffer.from(`shop:${password}`).toString("base64")}`;
    return nobody("POST", url, {}, { authorization });
  };
  const statuses = async (passwords: string[]) => {
    const answers = await Promise.all(passwords.map((password) => send(password)));
    return [...new Set(answers.map(({ status }) => status))];
  };
  expect(await statuses(Array(150).fill("outdated"))).toEqual([401]);
  expect((await send("open sesame")).status).toBe(201);

  expect(await statuses(Array.from({ length: 99 }, (_, n) => `guess ${n}`))).toEqual([401]);
  const refused = await send("open sesame");
  expect([refused.status, Number(refused.headers.get("retry-after")) <= 60]).toEqual([429, true]);
  expect((await nobody("POST", guessed.url, {})).status).toBe(401);
  expect((await send("open sesame", other)).status).toBe(201);

  const later = Date.now() + 61_000;
  Object.assign(server.server.app, { clock: () => new Date(later) });
  expect((await send("open sesame")).status).toBe(201);
}, 60_000);
