/** YAML files written by hand keep their formatting when `svc pull` and `svc push` write into them. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { parse } from "yaml";
import { isEmptyValue } from "../../../cli/sync/read/canonical.ts";
import { formatYaml } from "../../../cli/sync/read/files.ts";
import { preserveFormatting } from "../../../cli/sync/read/preserve-formatting.ts";
import { expectOk, startTestServer } from "../../support/harness.ts";
import { createCliEnvironment } from "../program.ts";
import { readFiles, writeFiles } from "./sync-files.ts";

const FLOW = `# Refunds of orders
summary: "Refund"   # as the list shows it
description: ''
value:
  modules:
  # Asks somebody first.
  - id: ask
    retry: {attempts: 2}   # the mail server is slow
    value:
      type: identity

  - id: pay
    value:
      type: identity
  zebra: "31"
  number: 9007199254740993
`;
/** The spaces before comments are not kept. */
const WRITTEN = FLOW.replaceAll("   #", " #");

const FORMS = { format: formatYaml, toCanonical: (fields: object) => ({ ...fields }) };

const change = (text: string, edit: (fields: any) => void): string => {
  const fields = parse(text, { intAsBigInt: true });
  edit(fields);
  return preserveFormatting(text, formatYaml(fields), FORMS);
};

test("unchanged parts keep their formatting", () => {
  expect(change(FLOW, () => {})).toBe(WRITTEN);
  const changed = change(FLOW, ({ value }) => {
    value.modules[0].summary = "Ask: first";
    value.modules.splice(1, 0, { id: "new", value: { type: "identity" } });
    value.modules[2].value.type = "later";
    value.zebra = "32";
  });
  const added = "  - id: new\n    value:\n      type: identity\n\n  - id: pay";
  expect(changed).toBe(
    WRITTEN.replace("- id: ask\n", "- id: ask\n    summary: 'Ask: first'\n")
      .replace("\n  - id: pay", added)
      .replace("identity\n  zebra", "later\n  zebra")
      .replace('"31"', '"32"'),
  );
});

test("moved steps keep their comments, and removed ones lose them", () => {
  const moved = change(FLOW, ({ value }) => value.modules.reverse());
  expect(moved.indexOf("the mail server")).toBeGreaterThan(moved.indexOf("id: pay"));
  const removed = change(FLOW, ({ value }) => value.modules.shift());
  expect(removed).not.toContain("mail server");
  expect(removed).toContain("# Refunds of orders");
});

test("files that were not edited by hand, and unreadable ones, are written again", () => {
  const own = formatYaml({ summary: "a", value: { modules: [{ id: "a", value: { type: "identity" } }] } });
  expect(change(own, (fields) => (fields.value.modules[0].summary = "s"))).toContain(
    "- id: a\n      summary: s\n",
  );
  for (const other of ["", "- 1", "a: [", "a: &x 1\nb: *x\n", "a: 1\n---\nb: 2\n"])
    expect(preserveFormatting(other, own, FORMS)).toBe(own);
});

const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      null,
      true,
      0,
      1.5,
      -7,
      "",
      "~",
      "yes",
      "a: b # c",
      "two\nlines\n",
      " x",
      "12",
      "é\u2028",
    ),
    fc.string({ maxLength: 100 }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("id", "value", "modules", "a", "b", "1"), tie("value")),
  ),
})).value;
const anyFields = fc.dictionary(fc.constantFrom("summary", "value", "a", "z"), anyValue);

test("a written file has the new values, whatever it contained, and writing again changes nothing", () => {
  fc.assert(
    fc.property(anyFields, anyFields, (before, wanted) => {
      const isSaid = (fields: any) => Object.entries(fields).every(([, value]) => !isEmptyValue(value));
      fc.pre(isSaid(before) && isSaid(wanted));
      const text = `# Written by hand\n${JSON.stringify(before)}\n`;
      const written = preserveFormatting(text, formatYaml(wanted), FORMS);
      expect(parse(written)).toEqual(parse(formatYaml(wanted)));
      expect(parse(preserveFormatting(written, formatYaml(wanted), FORMS))).toEqual(parse(written));
    }),
    { numRuns: 60 },
  );
}, 60_000);

test("a flow with comments is pushed, changed on the server, and pulled: the comments are there", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer();
  const { ask, token } = await server.workspace();
  const svc = (...words: string[]) =>
    place.svc([...words, "--yes", "--url", server.url, "--token", token, "--workspace", "acme"]);
  const name = "u/admin/refund.flow/flow.yaml";
  await writeFiles(place.folder, { [name]: WRITTEN });
  expect(await svc("push")).toMatchObject({ code: 0 });
  expect((await readFiles(place.folder))[name]).toBe(WRITTEN);
  const found = await (await expectOk(ask("GET", "/w/acme/flows/get/u/admin/refund"))).json();
  const { path, summary, schema, value } = found;
  value.modules[1].summary = "Pay";
  delete value.number;
  await expectOk(ask("POST", `/w/acme/flows/update/${path}`, { path, summary, schema, value }));
  expect(await svc("pull")).toMatchObject({ code: 0 });
  const pulled = WRITTEN.replace("- id: pay\n", "- id: pay\n    summary: Pay\n").replace(
    / +number: .*\n/,
    "",
  );
  expect((await readFiles(place.folder))[name]).toBe(pulled);
}, 60_000);

test("quotes are used if the new value needs them, or if the old one had them", () => {
  const text = '# By hand\nsummary: one\nvalue:\n  zip: "0"\n';
  const changed = change(text, (fields) => Object.assign(fields, { summary: "012", value: { zip: "true" } }));
  expect(changed).toBe("# By hand\nsummary: '012'\nvalue:\n  zip: \"true\"\n");
});

const HTTP = `# Takes orders
route_path: orders   # of the shop
http_method: post
workspaced_route: true
script_path: u/admin/orders
is_flow: false
`;
const SCHEDULE = `# Each night
schedule: "0 0 3 * * *"   # before the office opens
timezone: Etc/UTC
script_path: u/admin/orders
is_flow: false
`;

test.each([
  ["schedule", "nightly.schedule.yaml", SCHEDULE, "schedules/setenabled", { enabled: false }],
  ["http trigger", "shop.http_trigger.yaml", HTTP, "http_triggers/setenabled", { enabled: false }],
])(
  "a %s without `enabled` in its file that is disabled on the server stays disabled",
  async (_, file, text, setting, body) => {
    using place = createCliEnvironment();
    await using server = await startTestServer();
    const { ask, token } = await server.workspace();
    const svc = (...words: string[]) =>
      place.svc([...words, "--yes", "--url", server.url, "--token", token, "--workspace", "acme"]);
    const name = `u/admin/${file}`;
    await writeFiles(place.folder, { [name]: text, "u/admin/orders.ts": "export const main = () => 1;\n" });
    expect(await svc("push")).toMatchObject({ code: 0 });
    await expectOk(ask("POST", `/w/acme/${setting}/u/admin/${file.split(".")[0]}`, body));
    expect(await svc("pull")).toMatchObject({ code: 0 });
    const pulled = (await readFiles(place.folder))[name]!;
    expect(pulled.split("\n")).toEqual(expect.arrayContaining(text.replaceAll("   #", " #").split("\n")));
    expect(parse(pulled)).toMatchObject({ enabled: false });
    expect(await svc("push")).toMatchObject({ code: 0, out: "nothing to change\n" });
  },
  60_000,
);
