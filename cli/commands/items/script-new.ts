/** `svc script new`: creates a starter script in the language given by the file's extension. */
import { existsSync } from "node:fs";
import { type FileLanguage, parseFileLanguage } from "../../jobs/file-language.ts";
import { createCommand, formatExamples } from "../../program/command.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote } from "../../terminal/text/output.ts";

/** A greeting in each language, with arguments, a default and a result. */
const BEGINNINGS: Record<FileLanguage, string> = {
  bun: `// The arguments of a call become main's parameters, by name. What it returns is the result.
export async function main(name: string, greeting = "Hello") {
  console.log("this line goes to the job's log");
  return { message: \`\${greeting}, \${name}!\` };
}
`,
  python3: `# The arguments of a call become main's parameters, by name. What it returns is the result.
def main(name: str, greeting: str = "Hello"):
    print("this line goes to the job's log")
    return {"message": f"{greeting}, {name}!"}
`,
  bash: `# The arguments of a call are $1, $2 …, in the order of these lines. The last line of the output is the result.
name="$1"
greeting="\${2:-Hello}"
echo "$greeting, $name!"
`,
  postgresql: `-- database f/shop/db
-- $1 name (text)
SELECT 'Hello, ' || $1 || '!' AS message;
`,
  mysql: `-- database f/shop/db
-- ? name (text)
SELECT CONCAT('Hello, ', ?, '!') AS message;
`,
  sqlite: `-- $1 name (text)
SELECT 'Hello, ' || $1 || '!' AS message;
`,
  graphql: `# api f/shop/api
query Order($id: ID!) {
  order(id: $id) {
    total
  }
}
`,
  go: `package inner

import "fmt"

func main(name string) (string, error) {
	return fmt.Sprintf("Hello, %s!", name), nil
}
`,
  rust: `fn main(name: String) -> Result<String, String> {
    Ok(format!("Hello, {}!", name))
}
`,
  php: `<?php

function main(string $name, string $greeting = "Hello"): string
{
    return "$greeting, $name!";
}
`,
  ruby: `def main(name, greeting = "Hello")
  "#{greeting}, #{name}!"
end
`,
  powershell: `param($name, $greeting = "Hello")
"$greeting, $name!"
`,
};

export const createNew = createCommand("new", "write a template of a script into a file", "nothing")
  .argument("<file>", "such as hello.ts; its extension decides the language")
  .addHelpText("after", formatExamples("svc script new hello.ts", "svc script new report.py"))
  .action(async (file: string, { json }: { json?: boolean }) => {
    const language = parseFileLanguage(file);
    if (existsSync(file))
      throw createUsageError(`${file} is there already`, "choose another name, or edit it");
    await Bun.write(file, BEGINNINGS[language]);
    if (json) return printJson({ file, language });
    printNote(`wrote ${file}`);
    const argument = language === "graphql" ? "id=7" : "name=Bob";
    print(`run:    svc run ${/^[./]/.test(file) ? file : `./${file}`} ${argument}`);
    print(`deploy: svc script push ${file} u/<user>/<name>`);
  });
