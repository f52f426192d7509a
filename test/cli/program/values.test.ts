/** Variables, resources and their types from the command line. */
import { expect, test } from "bun:test";
import { parseDotenv } from "../../../cli/client/dotenv.ts";
import { type CliEnvironment, createServedEnvironment } from "../program.ts";
import { ENTER, startSession } from "../session.ts";

async function withWorkspace(place: CliEnvironment) {
  const owner = "ann@example.org";
  await place.svc(["user", "create", "--email", owner, "--password", "correct-horse"]);
  await place.svc(["workspace", "create", "acme", "--name", "Acme", "--owner", owner]);
  return async (args: string[], stdin?: string) => place.svc(args, stdin === undefined ? {} : { stdin });
}

test("variables are imported, renamed and deleted; no secret is shown", async () => {
  await using place = await createServedEnvironment();
  const svc = await withWorkspace(place);
  await place.file(".env", "# of the shop\nAPI_KEY=s3cr3t-4711\nexport REGION='eu 1' # here\n");
  const dry = await svc(["variable", "import", ".env", "--to", "u/ann/", "--dry-run"]);
  expect(dry.err).toBe("would be created u/ann/API_KEY\nwould be created u/ann/REGION\n");
  expect((await svc(["variable", "list", "--json"])).out).toBe("[]\n");
  const made = await svc(["variable", "import", ".env", "--to", "u/ann"]);
  expect(made).toEqual({ code: 0, out: "", err: "created u/ann/API_KEY\ncreated u/ann/REGION\n" });
  const listed = await svc(["variable", "list"]);
  expect(listed.out).toBe("u/ann/API_KEY\t(secret)\t\nu/ann/REGION\t(secret)\t\n");
  expect((await svc(["variable", "get", "u/ann/REGION"])).out).toBe("eu 1\n");
  const again = await svc(["variable", "import", "-", "--to", "u/ann", "--json"], "API_KEY=other\nNEW=1");
  expect(JSON.parse(again.out)).toEqual([
    { path: "u/ann/API_KEY", created: false },
    { path: "u/ann/NEW", created: true },
  ]);
  expect((await svc(["variable", "rename", "u/ann/NEW", "u/ann/newer"])).err).toBe(
    "u/ann/NEW is u/ann/newer now\n",
  );
  expect((await svc(["variable", "get", "u/ann/newer"])).out).toBe("1\n");
  const gone = await svc(["variable", "delete", "u/ann/newer", "u/ann/REGION", "u/ann/none"]);
  expect([gone.code, gone.err]).toEqual([
    1,
    expect.stringContaining("deleted u/ann/newer\ndeleted u/ann/REGION\nerror: "),
  ]);
  expect((await svc(["variable", "list"])).out).toBe("u/ann/API_KEY\t(secret)\t\n");
  // A file is stored completely or not at all.
  for (const [to, text, message] of [
    ["u/ann", "GOOD=1\nBAD.=x", '"u/ann/BAD." is not a path'],
    ["shop", "GOOD=1", '"shop/GOOD" is not a path'],
  ] as const) {
    const refused = await svc(["variable", "import", "-", "--to", to], text);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(message)]);
  }
  expect((await svc(["variable", "list"])).out).not.toContain("GOOD");
  const wrong = await svc(["variable", "import", "-", "--to", "u/ann"], "GOOD=1\ns3cr3t line");
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("line 2 is not a NAME=value")]);
  expect(wrong.err).not.toContain("s3cr3t");
  // More than the interface returns on one page.
  const many = Array.from({ length: 1_001 }, (_, index) => `MANY_${index}=x`).join("\n");
  await svc(["variable", "import", "-", "--to", "u/ann", "--plain"], many);
  const lines = (await svc(["variable", "list", "--prefix", "u/ann/MANY_"])).out.split("\n");
  expect(lines.filter((line) => line.endsWith("\tx\t")).length).toBe(1_001);
}, 60_000);

test("resources and their types are set, read, listed and deleted", async () => {
  await using place = await createServedEnvironment();
  const svc = await withWorkspace(place);
  const value = { host: "db", dbname: "main", password: "$var:u/ann/password" };
  const missing = await svc(["resource", "set", "u/ann/db", "{}"]);
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining("--type is missing")]);
  const made = await svc(["resource", "set", "u/ann/db", "-", "--type", "postgresql"], JSON.stringify(value));
  expect(made).toEqual({ code: 0, out: "", err: "created u/ann/db\n" });
  expect(JSON.parse((await svc(["resource", "get", "u/ann/db"])).out)).toEqual(value);
  await svc(["variable", "set", "u/ann/password", "-", "--secret"], "open-sesame\n");
  const resolved = await svc(["resource", "get", "u/ann/db", "--resolved"]);
  expect(JSON.parse(resolved.out).password).toBe("open-sesame");
  const warned = await svc(["resource", "set", "u/ann/db", '{"host":"db"}']);
  expect([warned.code, warned.err]).toEqual([
    0,
    expect.stringMatching(/^warning: .*'dbname'\nchanged u\/ann\/db\n$/),
  ]);
  expect((await svc(["resource", "list"])).out).toBe("u/ann/db\tpostgresql\t\n");
  expect((await svc(["resource", "list", "--type", "mysql"])).out).toBe("");
  const noJson = await svc(["resource", "set", "u/ann/db", "-"], '{"password": s3cr3t}');
  expect([noJson.code, noJson.err]).toEqual([2, expect.stringContaining("the value is not JSON")]);
  expect(noJson.err).not.toContain("s3cr3t");
  expect((await svc(["resource", "delete", "u/ann/db"])).err).toBe("deleted u/ann/db\n");

  await place.file("shop.yaml", "type: object\nrequired: [url]\nproperties:\n  url: { type: string }\n");
  const type = (...args: string[]) => svc(["resource-type", ...args]);
  expect((await type("push", "shop_api", "shop.yaml", "--summary", "The shop")).err).toBe(
    "created shop_api\n",
  );
  expect((await type("push", "shop_api", "shop.yaml")).err).toBe("changed shop_api\n");
  expect((await type("list")).out).toContain("shop_api\tacme\tThe shop\n");
  expect((await type("list")).out).toContain("smtp\tsvc\t");
  expect(JSON.parse((await type("get", "shop_api")).out).required).toEqual(["url"]);
  const refused = await svc(["resource", "set", "u/ann/shop", "{}", "--type", "shop_api", "--json"]);
  expect(refused.err).toContain("'url'");
  expect(JSON.parse(refused.out)).toEqual({ path: "u/ann/shop", created: true });
  expect((await type("delete", "shop_api")).err).toBe("deleted shop_api\n");
  expect((await type("push", "x", "none.yaml")).code).toBe(2);
}, 60_000);

test("on a terminal values are read without echo, and tables fit", async () => {
  await using place = await createServedEnvironment();
  const svc = await withWorkspace(place);
  using asked = startSession(place, ["variable", "set", "u/ann/key", "--secret"]);
  await asked.sees("Value of u/ann/key");
  asked.types(`open-sesame${ENTER}`);
  await asked.sees("created u/ann/key");
  expect((await asked.ended()).shown).not.toContain("open-sesame");
  using again = startSession(place, ["variable", "set", "u/ann/key"]);
  await again.sees("Value of u/ann/key");
  again.types(`shut-sesame${ENTER}`);
  await again.sees("changed u/ann/key");
  expect((await again.ended()).shown).not.toContain("shut-sesame");
  expect((await svc(["variable", "get", "u/ann/key"])).out).toBe("shut-sesame\n");
  using typed = startSession(place, ["variable", "set", "u/ann/key", "typed", "--secret"]);
  await typed.sees("now in the shell's history");
  await typed.ended();
  using resource = startSession(place, ["resource", "set", "u/ann/api", "--type", "any"]);
  await resource.sees("Value of u/ann/api");
  resource.types(`{"token":"open-sesame"}${ENTER}`);
  await resource.sees("created u/ann/api");
  expect((await resource.ended()).shown).not.toContain("open-sesame");
  const long = "a very long description of what this is for ".repeat(4);
  await svc(["resource", "set", `u/ann/${"long_".repeat(20)}`, "1", "--type", "any", "--summary", long]);
  for (const args of [
    ["resource", "list"],
    ["resource-type", "list"],
    ["variable", "list"],
  ]) {
    using shown = startSession(place, args);
    const { shown: text, code } = await shown.ended();
    expect([args, code, text.split("\n").filter((line) => line.trimEnd().length > 80)]).toEqual([
      args,
      0,
      [],
    ]);
  }
}, 60_000);

test.each([
  ["A=1\nB = two words \n\n# c\nC=", { A: "1", B: "two words", C: "" }],
  [
    `A="x\\ny # z" # c\nB='$raw \\n'\nC="two\nlines"\r\nD=a#b`,
    { A: "x\ny # z", B: "$raw \\n", C: "two\nlines", D: "a#b" },
  ],
  ["export A=1\nA=2", { A: "2" }],
  ["", {}],
])("a file of settings: %j", (text, settings) => {
  expect(Object.fromEntries(parseDotenv(text).map(({ name, value }) => [name, value]))).toEqual(settings);
});

test.each([
  ["A=1\nno setting", "line 2"],
  ['A=1\n\nB="never', "line 3"],
  ["A='x' y", "line 1"],
  ["=x", "line 1"],
])("an invalid file of settings is rejected: %j", (text, message) => {
  expect(() => parseDotenv(text)).toThrow(message);
});
