/** Query scripts on a real MariaDB or MySQL, if the machine has one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rootCertificates } from "node:tls";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../../support/harness.ts";
import { CERTIFICATE } from "../../../../support/peers/mail-server.ts";
import {
  MYSQL_PASSWORD,
  type MysqlServer,
  noMysql,
  startMysql,
} from "../../../../support/peers/mysql-server.ts";
import { VALUES } from "./mysql-values.ts";

let mysql: MysqlServer;
/** A server without TLS. */
let plain: MysqlServer;
let server: TestServer;
let ask: Ask;
let shop: Record<string, unknown>;

interface Ended {
  success: boolean;
  result: any;
}

async function ended(id: string): Promise<Ended> {
  return until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json<Ended>() : undefined;
  }, `job ${id}`);
}

const start = async (content: string, args: object = {}, query = "") => {
  const body = { language: "mysql", content, args: { database: "$res:u/admin/shop", ...args } };
  return (await expectOk(ask("POST", `/w/acme/jobs/run/preview${query}`, body))).text;
};
const run = async (content: string, args: object = {}) => ended(await start(content, args));

describe.skipIf(noMysql !== undefined)(`a query of MySQL${noMysql ? ` (${noMysql})` : ""}`, () => {
  beforeAll(async () => {
    [mysql, plain] = await Promise.all([startMysql({ tls: true }), startMysql({ tls: false })]);
    server = await startTestServer();
    ({ ask } = await server.workspace());
    const secret = { path: "u/admin/my_password", value: MYSQL_PASSWORD, is_secret: true, description: "" };
    await expectOk(ask("POST", "/w/acme/variables/create", secret));
    shop = {
      host: "127.0.0.1",
      port: mysql.port,
      user: "root",
      password: "$var:u/admin/my_password",
      database: "shop",
      ssl: false,
    };
    const resource = { path: "u/admin/shop", value: shop, resource_type: "mysql" };
    const answer = await expectOk(ask("POST", "/w/acme/resources/create", resource));
    expect(answer.text).not.toContain("warning");
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    await Promise.all([mysql.stop(), plain.stop()]);
  });

  test.each(VALUES)("%s", async (_, content, args, rows) => {
    const { success, result } = await run(content, args);
    expect([success, result]).toEqual([true, rows]);
  });

  test("stores values and reads the same ones", async () => {
    await mysql.direct.unsafe(
      "CREATE TABLE given (id INT AUTO_INCREMENT PRIMARY KEY, at DATETIME(3), raw BLOB, doc JSON, day DATE, note TEXT)",
    );
    const given = {
      at: "2024-02-03T04:05:06.789Z",
      raw: "3q2+7w==",
      doc: { a: [1, null, "ü"] },
      day: "2024-02-29",
      note: "",
    };
    const insert = `-- ? at (datetime)\n-- ? raw (blob)\n-- ? doc (json)\n-- ? day (date)\n-- ? note (text)
      INSERT INTO given (at, raw, doc, day, note) VALUES (?, ?, ?, ?, ?)`;
    expect(await run(insert, given)).toMatchObject({ success: true });
    const { result } = await run("SELECT at, raw, doc, day, note FROM given");
    expect(result).toEqual([{ ...given, day: "2024-02-29T00:00:00.000Z" }]);
  });

  test("is a transaction on request, which is rolled back completely after a failure", async () => {
    await mysql.direct.unsafe("CREATE TABLE kept (id INT PRIMARY KEY) ENGINE=InnoDB");
    expect((await run("BEGIN; INSERT INTO kept VALUES (1); COMMIT")).success).toBe(true);
    const failed = await run("BEGIN; INSERT INTO kept VALUES (2); INSERT INTO kept VALUES (1); COMMIT");
    expect(failed.success).toBe(false);
    expect([...(await mysql.direct.unsafe("SELECT id FROM kept"))]).toEqual([{ id: 1 }]);
  });

  test("never treats an argument as SQL", async () => {
    const nasty = ["'; DROP TABLE safe; --", "?", "\\'; SELECT 1", '"', "a'b''c", "\\", ":text", "*/ #"];
    await mysql.direct.unsafe("CREATE TABLE safe (text TEXT)");
    for (const text of nasty) await run("-- ? text (text)\nINSERT INTO safe VALUES (?)", { text });
    const { result } = await run("SELECT text FROM safe");
    expect(result.map(({ text }: { text: string }) => text)).toEqual(nasty);
  });

  const failures: [what: string, content: string, args: object, error: object][] = [
    [
      "a name that is none",
      "SELECT 1;\n\nSELECT\n  nope",
      {},
      { line: 3, code: "42S22", message: expect.stringContaining("'nope'") },
    ],
    [
      "no SQL",
      "SELECT 1;\nSELECT 1,\n  FROM nowhere",
      {},
      { line: 3, code: "42000", message: expect.stringContaining("FROM nowhere") },
    ],
    [
      "no such table",
      "SELECT * FROM nowhere",
      {},
      { line: 1, code: "42S02", message: expect.stringContaining("shop.nowhere") },
    ],
    [
      "an unknown collection",
      "-- result_collection=some\nSELECT 1",
      {},
      { message: expect.stringContaining("some") },
    ],
  ];
  test.each(failures)("fails with line and message: %s", async (_, content, args, error) => {
    const { success, result } = await run(content, args);
    expect(success).toBe(false);
    const { name, message, extra } = result.error;
    expect({ name, message, ...extra }).toMatchObject({ name: "QueryError", ...error });
    expect(result.error.stack).toBeUndefined();
  });

  test.each([
    ["a wrong password", { password: "closed-sesame-4712" }, "Access denied"],
    ["no such server", { port: 1 }, "root@127.0.0.1:1/shop"],
    ["no such database", { database: "nowhere" }, "'nowhere'"],
    [
      "a server whose certificate is another's",
      { ssl: true, root_certificate_pem: rootCertificates[0] },
      "certificate",
    ],
  ])("that cannot connect reports it without the password: %s", async (_, change, message) => {
    const database = { ...shop, password: MYSQL_PASSWORD, ...change };
    const { success, result } = await run("SELECT 1", { database });
    expect(success).toBe(false);
    expect(result.error.message).toContain("cannot connect to ");
    expect(result.error.message).toContain(message);
    expect(JSON.stringify(result)).not.toContain("-sesame-");
  });

  test("uses TLS if the resource requires it, and reports a server without it", async () => {
    const cipher = "SHOW STATUS LIKE 'Ssl_cipher'";
    const database = { ...shop, password: MYSQL_PASSWORD };
    for (const [ssl, expected] of [
      [{ ssl: true }, expect.stringContaining("TLS")],
      [{ ssl: true, root_certificate_pem: CERTIFICATE }, expect.stringContaining("TLS")],
      [{ ssl: false }, ""],
    ] as const) {
      const { result } = await run(cipher, { database: { ...database, ...ssl } });
      expect(result).toEqual([{ Variable_name: "Ssl_cipher", Value: expected }]);
    }
    const lacking = { ...database, port: plain.port };
    expect((await run("SELECT 1 AS x", { database: lacking })).result).toEqual([{ x: 1 }]);
    const { error } = (await run("SELECT 1", { database: { ...lacking, ssl: true } })).result;
    expect(error.extra.hint).toContain("TLS");
  });

  /** Returns the number of running statements that sleep for this many seconds. */
  const sleeping = async (seconds: number) => {
    const [row] = (await mysql.direct.unsafe(
      "SELECT COUNT(*) AS n FROM information_schema.processlist WHERE info LIKE ? AND id <> CONNECTION_ID()",
      [`%SLEEP(${seconds})%`],
    )) as { n: number }[];
    return Number(row!.n);
  };
  const untilSleeping = (seconds: number, count: number) =>
    until(async () => ((await sleeping(seconds)) === count ? true : undefined), `${count} sleeping`);

  test("is killed on the server when it is canceled", async () => {
    const id = await start("SELECT 1; SELECT SLEEP(71); SELECT SLEEP(72)");
    await untilSleeping(71, 1);
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, { reason: "enough" }));
    expect((await ended(id)).result.error.name).toBe("Canceled");
    expect([await sleeping(71), await sleeping(72)]).toEqual([0, 0]);
  });

  test("is killed on the server when it times out", async () => {
    const id = await start("SELECT SLEEP(73)", {}, "?timeout=1");
    expect((await ended(id)).result.error.name).toBe("ExecutionTimeout");
    expect(await sleeping(73)).toBe(0);
  });

  test("is deployed with the schema from its comments, and runs warm with a new connection", async () => {
    const content =
      "-- ? id (int)\n-- ? since (datetime) = 2024-01-01\nSELECT ? AS id, ? AS since, CONNECTION_ID() AS pid";
    await deploy(ask, "acme", "u/admin/my_report", content, { language: "mysql" });
    const { schema } = (await ask("GET", "/w/acme/scripts/get/p/u/admin/my_report")).json();
    expect(schema).toMatchObject({
      order: ["database", "id", "since"],
      required: ["database", "id"],
      properties: {
        database: { type: "object", format: "resource-mysql" },
        id: { type: "integer" },
        since: { type: "string", format: "date-time", default: "2024-01-01" },
      },
    });
    const runIt = async (id: number) => {
      const args = { id, database: "$res:u/admin/shop" };
      const path = "/w/acme/jobs/run_wait_result/p/u/admin/my_report";
      return (await expectOk(ask("POST", path, args))).json();
    };
    const [[one], [two]] = [await runIt(1), await runIt(2)];
    expect([one.id, two.id]).toEqual([1, 2]);
    expect(one.pid).not.toBe(two.pid);
  });
});
