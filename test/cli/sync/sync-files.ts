/** A workspace as a folder of files, with an item of each kind that needs no package. */
import { join } from "node:path";

export const WORKSPACE_FILES: Record<string, string> = {
  "README.md": "# Not ours\n",
  "f/data/folder.meta.yaml": "summary: Things\nowners: [u/admin, u/ann]\nextra_perms:\n  g/all: true\n",
  "f/data/hello.ts": "export const main = (name: string) => `hello ${name}`;\n",
  "f/data/shout.script.yaml":
    "summary: Shouts\nenvs: [A=b]\ntimeout: 7\nschema:\n  type: object\n  properties:\n    word: {type: string, description: by hand}\n",
  "f/data/shout.sh": 'echo "{\\"word\\": \\"$1\\"}"\n',
  "f/data/host.variable.yaml": "value: example.org\nis_secret: false\ndescription: where it is\n",
  "f/data/database.resource.yaml":
    "resource_type: c_database\nvalue:\n  host: $var:f/data/host\n  port: 5432\n",
  "f/data/note.resource.yaml":
    "resource_type: c_note\nvalue:\n  content: '!inline f/data/note.resource.file.md'\n",
  "f/data/note.resource.file.md": "# A note\n",
  "c_database.resource-type.yaml": "description: a database of ours\nschema:\n  type: object\n",
  "c_note.resource-type.yaml": "description: a file\nformat_extension: md\nschema:\n  type: object\n",
  "dependencies/package.json": '{"dependencies": {"is-number": "7.0.0"}}\n',
  "dependencies/old-ones.requirements.in": "six==1.16.0\n",
  "groups/ops.group.yaml": "summary: Ops\nmembers: [u/ann]\nadmins: [u/admin]\n",
  "f/data/twice.flow/flow.yaml": `summary: Twice
value:
  modules:
    - id: a
      summary: Do it
      value:
        type: rawscript
        content: !inline do_it.inline_script.ts
        language: bun
        input_transforms:
          x: {type: javascript, expr: flow_input.x}
    - id: b
      value:
        type: forloopflow
        iterator: {type: javascript, expr: '[1, 2]'}
        skip_failures: false
        modules:
          - id: c
            value: {type: rawscript, language: bash, content: echo 1, input_transforms: {}}
  failure_module:
    id: failure
    value: {type: script, path: f/data/hello, input_transforms: {}}
schema:
  type: object
  properties: {x: {type: number}}
`,
  "f/data/twice.flow/do_it.inline_script.ts": "export const main = (x: number) => 2 * x;\n",
  "f/data/board.app/app.yaml": `summary: Board
value:
  grid:
    - id: a
      data:
        componentInput:
          type: runnable
          runnable:
            name: answer
            inlineScript:
              content: '!inline answer.inline_script.ts'
              language: bun
`,
  "f/data/board.app/answer.inline_script.ts": "export const main = () => 42\n",
  "f/data/board.policy.yaml": "execution_mode: publisher\n",
  "f/data/page.raw_app/raw_app.yaml": "summary: Page\nvalue: '!inline bundle.js'\n",
  "f/data/page.raw_app/bundle.js": "document.body.append('hello');\n",
  "f/data/nightly.schedule.yaml":
    "schedule: 0 0 3 * * *\ntimezone: Europe/Paris\nscript_path: f/data/hello\nargs: {name: night}\nenabled: false\n",
  "f/data/orders.http_trigger.yaml": "route_path: orders/:id\nhttp_method: post\nscript_path: f/data/hello\n",
  "f/data/feed.websocket_trigger.yaml":
    "url: ws://localhost:1\nscript_path: f/data/hello\nenabled: false\nfilters: [{key: a, value: 1}]\n",
  "f/data/clicks.kafka_trigger.yaml":
    "script_path: f/data/not_there\nis_flow: false\nkafka_resource_path: f/data/broker\ngroup_id: ours\ntopics: [clicks]\nenabled: true\n",
};

export async function writeFiles(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) await Bun.write(join(folder, name), content);
}

/** Reads all files of a folder, by name. */
export async function readFiles(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const name of new Bun.Glob("**/*").scan({ cwd: folder })) {
    files[name] = await Bun.file(join(folder, name)).text();
  }
  return files;
}
