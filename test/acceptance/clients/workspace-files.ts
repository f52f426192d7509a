/** A workspace as users keep it in a repository, with an item of each kind. */
import { join } from "node:path";

const FILES: Record<string, string> = {
  "f/data/folder.meta.yaml": `summary: Things
display_name: data
owners:
  - u/admin
extra_perms:
  g/all: false
  u/admin: true
`,
  "f/data/hello.ts":
    "export async function main(name: string, times = 2) { return `hello ${name} `.repeat(times).trim() }\n",
  "f/data/shout.sh": 'word="$1"\necho "{\\"word\\": \\"$word\\"}"\n',
  "f/data/report.pg.sql": "-- $1 since\nSELECT $1::int AS n\n",
  "f/data/odd.ts":
    'import isOdd from "is-odd@3.0.1";\nexport function main(n: number): boolean {\n  return isOdd(n);\n}\n',
  "f/data/host.variable.yaml": "value: example.org\nis_secret: false\ndescription: where it is\n",
  "f/data/password.variable.yaml": "value: hunter2-moon\nis_secret: true\ndescription: ''\n",
  "f/data/database.resource.yaml": `description: the shop
resource_type: c_database
value:
  host: $var:f/data/host
  port: 5432
`,
  "c_database.resource-type.yaml": `description: a database of ours
schema:
  type: object
  properties:
    host:
      type: string
`,
  "f/data/twice.flow/flow.yaml": `summary: Twice
description: ''
value:
  modules:
    - id: a
      value:
        type: rawscript
        content: '!inline inline_script_0.inline_script.ts'
        language: bun
        lock: ''
        input_transforms:
          x:
            type: javascript
            expr: flow_input.x
    - id: b
      value:
        type: script
        path: f/data/hello
        input_transforms:
          name:
            type: javascript
            expr: String(results.a)
schema:
  type: object
  order:
    - x
  properties:
    x:
      type: number
  required:
    - x
`,
  "f/data/twice.flow/inline_script_0.inline_script.ts": "export const main = (x: number) => 2 * x;\n",
  "f/data/nightly.schedule.yaml": `summary: each night
args:
  name: night
enabled: false
is_flow: false
no_flow_overlap: false
schedule: 0 0 3 * * *
script_path: f/data/hello
timezone: Europe/Paris
ws_error_handler_muted: false
`,
};

export async function writeWorkspace(folder: string): Promise<void> {
  for (const [name, content] of Object.entries(FILES)) await Bun.write(join(folder, name), content);
}

/** Reads the workspace's files in the folder, by name, without the client's own files. */
export async function filesOf(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const name of new Bun.Glob("**/*").scan({ cwd: folder })) {
    if (name.startsWith("wmill")) continue;
    files[name] = await Bun.file(join(folder, name)).text();
  }
  return files;
}
