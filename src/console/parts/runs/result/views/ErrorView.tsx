import { Text } from "@mantine/core";

interface Props {
  name: string;
  message: string;
  stack: string;
  source?: Source | undefined;
}

/** The executed code, if known. */
export interface Source {
  path: string | undefined;
  code: string;
}

const LINES_BEFORE = 3;
const LINES_AFTER = 2;

/** Finds the first line of the script in a stack trace: `u/ann/x.ts:3:9`, `"script", line 3`, `main.sh: line 3`. */
function findScriptLine(stack: string, path = "script"): number | undefined {
  const name = path.replace(/[^\w/]/g, "\\$&");
  const match = new RegExp(`(?:${name}|\\bmain|\\bscript)(?:\\.\\w+)?(?:"?, line |: line |:)(\\d+)`).exec(
    stack,
  );
  return match ? Number(match[1]) : undefined;
}

/** Error of a failed run, with an excerpt of the code. */
export function ErrorView({ name, message, stack, source }: Props) {
  const line = findScriptLine(stack, source?.path) ?? findScriptLine(message, source?.path);
  const lines = source?.code.split("\n") ?? [];
  const first = line === undefined ? 0 : Math.max(1, line - LINES_BEFORE);
  const excerpt =
    line !== undefined && line <= lines.length ? lines.slice(first - 1, line + LINES_AFTER) : [];
  return (
    <>
      <div style={{ padding: "0.9rem 1rem" }}>
        <Text fw={600} style={{ color: "var(--bad)" }}>
          {name}
        </Text>
        <Text className="wrap" style={{ whiteSpace: "pre-wrap", maxHeight: "20rem", overflowY: "auto" }}>
          {message}
        </Text>
      </div>
      {excerpt.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keys
        <pre className="excerpt" tabIndex={0} role="group" aria-label={`Line ${line} of the script`}>
          {excerpt.map((text, index) => (
            <div key={index} {...(first + index === line ? { "data-here": true } : {})}>
              <span>{first + index}</span>
              {text}
            </div>
          ))}
        </pre>
      )}
      {stack !== "" && stack !== message && (
        <details style={{ padding: "0.6rem 1rem" }}>
          <summary>Stack</summary>
          <pre className="plain" style={{ padding: "0.5rem 0 0" }}>
            {stack}
          </pre>
        </details>
      )}
    </>
  );
}
