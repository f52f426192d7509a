/** A unified diff, one row per line. */
const SHOWN_LINES = 5_000;

function kindOf(line: string): "file" | "place" | "added" | "removed" | undefined {
  if (/^(diff |index |--- |\+\+\+ |new file|deleted file|rename |similarity )/.test(line)) return "file";
  if (line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : undefined;
}

export function Patch({ text }: { text: string }) {
  const lines = text.split("\n");
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keys */}
      <pre className="plain patch" tabIndex={0} role="group" aria-label="Differences">
        {lines.slice(0, SHOWN_LINES).map((line, index) => (
          <div key={index} data-kind={kindOf(line)}>
            {line || " "}
          </div>
        ))}
      </pre>
      {lines.length > SHOWN_LINES && (
        <p className="quiet cut">{lines.length - SHOWN_LINES} more lines are in the file.</p>
      )}
    </>
  );
}
