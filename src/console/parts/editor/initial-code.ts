/** Initial code of a new script. Each runs unchanged if its language is available. */
import type { Language } from "../items/languages.ts";

const TYPESCRIPT = `export async function main(name: string = "world") {
  return \`Hello, \${name}!\`;
}
`;

const BEGINNINGS: Partial<Record<Language, string>> = {
  bun: TYPESCRIPT,
  deno: TYPESCRIPT,
  nativets: TYPESCRIPT,
  python3: `def main(name: str = "world"):
    return f"Hello, {name}!"
`,
  bash: `name="\${1:-world}"
echo "Hello, $name!"
`,
  postgresql: `-- $1 name = world
SELECT 'Hello, ' || $1 AS greeting
`,
  mysql: `-- ? name (text) = world
SELECT concat('Hello, ', ?) AS greeting
`,
  sqlite: `SELECT 1 AS one
`,
  graphql: `query {
  __typename
}
`,
  go: `package inner

func main(name string) (string, error) {
	return "Hello, " + name + "!", nil
}
`,
  rust: `fn main(name: String) -> anyhow::Result<String> {
    Ok(format!("Hello, {name}!"))
}
`,
  php: `<?php
function main(string $name = "world") {
    return "Hello, $name!";
}
`,
  ruby: `def main(name = "world")
  "Hello, #{name}!"
end
`,
  powershell: `param($name = "world")
"Hello, $name!"
`,
};

export const getInitialCode = (language: Language): string => BEGINNINGS[language] ?? "";
