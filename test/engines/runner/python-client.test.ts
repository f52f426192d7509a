/**
 * The module `wmill` that Python scripts import without a lock, called from real scripts against the real
 * server.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, startTestServer, type TestServer } from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  const create = (path: string, body: object) => ask("POST", `/w/acme/${path}/create`, body);
  await create("folders", { name: "shop" });
  await create("variables", { path: "f/shop/city", value: "Oslo", is_secret: false, description: "" });
  await create("resources", {
    path: "f/shop/db",
    value: { host: "db", city: "$var:f/shop/city" },
    resource_type: "any",
  });
  await create("resources", {
    path: "f/shop/bucket",
    value: {
      bucket: "b",
      region: "eu",
      endPoint: "s3.example.org",
      useSSL: true,
      accessKey: "k",
      secretKey: "s",
    },
    resource_type: "s3",
  });
  await ask("POST", "/w/acme/workspaces/edit_large_file_storage_config", {
    large_file_storage: { type: "FilesystemStorage" },
  });
  await python(
    "f/shop/add",
    "def main(a: int, b: int = 1):\n    if a < 0: raise ValueError('too small')\n    return a + b",
  );
  const module = {
    id: "a",
    value: {
      type: "script",
      path: "f/shop/add",
      input_transforms: { a: { type: "javascript", expr: "flow_input.a" } },
    },
  };
  await python("f/shop/cases", CASES);
  await create("flows", { path: "f/shop/flow", summary: "", value: { modules: [module] }, schema: {} });
});
afterAll(() => server.stop());

const python = (path: string, content: string) => deploy(ask, "acme", path, content, { language: "python3" });

/** One script for all cases: it defines a function with the given body, and calls it. */
const CASES = `import datetime, os, time, wmill
def main(body: str):
    names = dict(globals())
    exec("def case():\\n" + "\\n".join("    " + line for line in body.splitlines()), names)
    return names["case"]()
`;

/** Returns the result of a script with this body, as JSON text. */
async function answerText(body: string): Promise<string> {
  return (await ask("POST", "/w/acme/jobs/run_wait_result/p/f/shop/cases", { body })).text;
}

const answer = async (body: string): Promise<unknown> => JSON.parse(await answerText(body));

const cases: [name: string, body: string, result: unknown][] = [
  ["a variable", "return wmill.get_variable('f/shop/city')", "Oslo"],
  ["a variable by its reference", "return wmill.get_variable('$var:f/shop/city')", "Oslo"],
  [
    "a variable that is made, then changed",
    "wmill.set_variable('f/shop/new', 'one')\nwmill.set_variable('f/shop/new', 'two')\nreturn wmill.get_variable('f/shop/new')",
    "two",
  ],
  [
    "a resource, its references followed",
    "return wmill.get_resource('f/shop/db')",
    { host: "db", city: "Oslo" },
  ],
  ["no resource", "return wmill.get_resource('f/shop/none', none_if_undefined=True)", null],
  [
    "a resource that is missing",
    "try: wmill.get_resource('f/shop/none')\nexcept wmill.WindmillError as error: return error.status_code",
    404,
  ],
  [
    "a resource that is made, then changed",
    "wmill.set_resource({'n': 1}, 'f/shop/made', 'any')\nwmill.set_resource({'n': 2}, 'f/shop/made', 'any')\nreturn wmill.get_resource('f/shop/made')",
    { n: 2 },
  ],
  [
    "the state",
    "before = wmill.get_state()\nwmill.set_state({'at': datetime.date(2026, 1, 2)})\nreturn [before, wmill.get_state()]",
    [null, { at: "2026-01-02" }],
  ],
  ["a script by its path", "return wmill.run_script('f/shop/add', args={'a': 2, 'b': 3})", 5],
  ["a script by path, synchronously", "return wmill.run_script_by_path('f/shop/add', {'a': 2})", 3],
  [
    "a script that fails",
    "try: wmill.run_script_by_path_sync('f/shop/add', {'a': -1})\nexcept wmill.WindmillError as error: return str(error).split(': ', 1)[1]",
    "too small",
  ],
  [
    "a script in the background",
    "job = wmill.run_script_by_path_async('f/shop/add', {'a': 4})\nwmill.wait_job(job)\nreturn [wmill.get_job_status(job), wmill.get_result(job)]",
    ["COMPLETED", 5],
  ],
  ["a flow", "return wmill.run_flow('f/shop/flow', {'a': 6})", 7],
  [
    "a flow in the background",
    "job = wmill.run_flow_async('f/shop/flow', {'a': 7})\nreturn wmill.Windmill().wait_job(job, timeout=20)",
    8,
  ],
  ["the workspace", "return wmill.get_workspace()", "acme"],
  ["whom it runs as", "return wmill.whoami()['username']", "admin"],
  ["the root job", "return wmill.get_root_job_id() == os.environ['WM_JOB_ID']", true],
  ["progress", "wmill.set_progress(40)\nreturn wmill.get_progress()", 40],
  [
    "a stored file",
    "file = wmill.write_s3_file({'s3': 'a/b.txt'}, b'caf\\xc3\\xa9')\nwith wmill.load_s3_file_reader(file) as reader: first = reader.read(3)\nreturn [file.s3, wmill.load_s3_file('s3:///a/b.txt').decode(), first.decode()]",
    ["a/b.txt", "café", "caf"],
  ],
  [
    "a script by path, started only",
    "job = wmill.run_script_async('f/shop/add', {'a': 8})\nwmill.wait_job(job)\nreturn wmill.get_result(job)",
    9,
  ],
  [
    "a stored file, named by its type",
    "return wmill.parse_s3_object(wmill.S3Object(s3='a/c.txt'))",
    { s3: "a/c.txt" },
  ],
  [
    "how boto3 reaches a storage",
    "return wmill.boto3_connection_settings('f/shop/bucket')",
    {
      endpoint_url: "https://s3.example.org",
      region_name: "eu",
      use_ssl: true,
      aws_access_key_id: "k",
      aws_secret_access_key: "s",
    },
  ],
  [
    "how polars reaches a storage",
    "return wmill.polars_connection_settings('f/shop/bucket').s3fs_args['key']",
    "k",
  ],
  [
    "how DuckDB reaches a storage",
    "return 's3.example.org' in wmill.duckdb_connection_settings('f/shop/bucket').connection_settings_str",
    true,
  ],
  ["any call of the interface", "return wmill.Windmill().get('/version').status_code", 200],
  ["who is logged in", "return wmill.user()['email']", "admin_acme@example.org"],
];

test.each(cases)("%s", async (_, body, result) => {
  expect(await answer(body)).toEqual(result);
});

test("URLs that resume a flow", async () => {
  expect(await answer("return sorted(wmill.get_resume_urls())")).toEqual([
    "approvalPage",
    "cancel",
    "resume",
  ]);
});

test("functions of a script that run as separate jobs", async () => {
  const content =
    "from wmill import task\nimport os\n@task(tag='python3')\ndef double(n: int):\n    return [n * 2, os.environ['WM_JOB_ID']]\ndef main():\n    (a, first), (b, second) = double(2), double(n=3)\n    return [a, b, len({first, second, os.environ['WM_JOB_ID']})]";

  await python("f/shop/tasks", content);
  const ran = await ask("POST", "/w/acme/jobs/run_wait_result/p/f/shop/tasks", {});
  expect(ran.json()).toEqual([4, 6, 3]);
});

test("values without a JSON form, as a result", async () => {
  const body = `
import decimal, enum, uuid, dataclasses, collections, pathlib
class Colour(enum.Enum): RED = 'red'
@dataclasses.dataclass
class Point: x: int; at: datetime.date
class Model:
    def model_dump(self): return {'fine': True}
class Array:
    def tolist(self): return [1.5, float('nan')]
return {'nan': float('nan'), 'inf': [float('inf')], 'when': datetime.datetime(2026, 1, 2, 3, 4), 'big': 12345678901234567890,
  'decimal': decimal.Decimal('1.5'), 'whole': decimal.Decimal('12345678901234567890'), 'bytes': b'hi', 'set': {1}, 'enum': Colour.RED,
  'point': Point(1, datetime.date(2026, 1, 2)), 'id': uuid.UUID(int=1), 'path': pathlib.Path('/x'), 'model': Model(), 'array': Array(),
  'named': collections.namedtuple('P', 'x')(3), 'took': datetime.timedelta(seconds=90), 'range': range(2), (1, 2): 'key', datetime.date(2026, 1, 2): 1}
`.trim();
  const text = (await answerText(body)).replaceAll(/\s/g, "");
  expect(text).toContain('"big":12345678901234567890');
  expect(text).toContain('"whole":12345678901234567890');
  expect(JSON.parse(text)).toMatchObject({
    nan: null,
    inf: [null],
    when: "2026-01-02T03:04:00",
    decimal: 1.5,
    bytes: "aGk=",
    set: [1],
    enum: "red",
    point: { x: 1, at: "2026-01-02" },
    id: "00000000-0000-0000-0000-000000000001",
    path: "/x",
    model: { fine: true },
    array: [1.5, null],
    named: [3],
    took: 90,
    range: [0, 1],
    "(1,2)": "key",
    "2026-01-02": 1,
  });
});

test("Python's own modules are found whatever a script does to the search path", async () => {
  const content =
    "import datetime, sys\nsys.path[:] = []\nasync def main():\n    return [datetime.date(2026, 1, 2), {1}]";
  await python("f/shop/no_search_path", content);
  const ran = await ask("POST", "/w/acme/jobs/run_wait_result/p/f/shop/no_search_path", {});
  expect(ran.json()).toEqual(["2026-01-02", [1]]);
});
