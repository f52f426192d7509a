import { ActionIcon, Image, Text, Title, Tooltip } from "@mantine/core";
import { IconBraces, IconCheck, IconCopy, IconDownload } from "@tabler/icons-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { writeJson } from "../../../api/json.ts";
import { useCopy } from "../../calling/use-copy.ts";
import { CodeDifference } from "../../editor/lazy.tsx";
import { Loading } from "../../elements/Loading.tsx";
import { type ClassifiedResult, classifyResult } from "./kinds.ts";
import { ErrorView, type Source } from "./views/ErrorView.tsx";
import { FileResult, StoredFiles } from "./views/FileResult.tsx";
import { HtmlFrame } from "./views/HtmlFrame.tsx";
import { JsonTree } from "./views/JsonTree.tsx";
import { Patch } from "./views/Patch.tsx";
import { ResultTable, type RowSelection } from "./views/ResultTable.tsx";
import { saveFile } from "./views/save.ts";

interface Props {
  title: string;
  workspace: string;
  value: unknown;
  /** The code that produced the value. */
  source?: Source | undefined;
  /** For a table, one of whose rows is selected. */
  selection?: RowSelection | undefined;
}

/** Longer texts are truncated; the download is complete. */
const MAX_TEXT_LENGTH = 256_000;

const Markdown = lazy(() => import("./views/Markdown.tsx"));

/** Panel that renders arguments or a result by its kind. */
export function ResultPanel({ title, workspace, value, source, selection }: Props) {
  const shown = useMemo(() => classifyResult(value), [value]);
  const [asJson, setAsJson] = useState(false);
  const hasOther = shown.kind !== "json" && shown.kind !== "nothing" && shown.kind !== "text";
  return (
    <section className="panel" aria-label={title}>
      <div className="panel-head">
        <Title order={2}>{title}</Title>
        {hasOther && (
          <Tooltip label={asJson ? "Show it formatted" : "Show it as JSON"}>
            <ActionIcon
              variant={asJson ? "light" : "subtle"}
              color="gray"
              aria-label="Show it as JSON"
              aria-pressed={asJson}
              onClick={() => setAsJson(!asJson)}
            >
              <IconBraces size={16} />
            </ActionIcon>
          </Tooltip>
        )}
        <Actions name={title.toLowerCase()} value={value} />
      </div>
      {asJson ? (
        <JsonTree value={value} />
      ) : (
        <Body shown={shown} value={value} workspace={workspace} source={source} selection={selection} />
      )}
    </section>
  );
}

const write = (value: unknown) => (typeof value === "string" ? value : writeJson(value, 2));

/** The text is created on demand, because that of a large result takes a while. */
function Actions({ name, value }: { name: string; value: unknown }) {
  const { isCopied, copy } = useCopy(() => write(value));
  return (
    <>
      <Tooltip label={isCopied ? "Copied" : "Copy"}>
        <ActionIcon variant="subtle" color="gray" aria-label={`Copy the ${name}`} onClick={copy}>
          {isCopied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Save as a file">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Save the ${name} as a file`}
          onClick={() =>
            saveFile(
              `${name}.${typeof value === "string" ? "txt" : "json"}`,
              "application/json",
              write(value),
            )
          }
        >
          <IconDownload size={16} />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

function Body({
  shown,
  value,
  workspace,
  source,
  selection,
}: Omit<Props, "title"> & { shown: ClassifiedResult }) {
  switch (shown.kind) {
    case "nothing":
      return (
        <Text c="dimmed" p="md">
          Nothing.
        </Text>
      );
    case "text":
      return <Plain text={shown.text} />;
    case "html":
      return <HtmlFrame html={shown.html} />;
    case "image":
      return <Image src={shown.src} alt="Result" fit="contain" mah={560} w="auto" maw="100%" p="md" />;
    case "file":
      return <FileResult name={shown.name} base64={shown.base64} type={shown.type} />;
    case "stored":
      return <StoredFiles workspace={workspace} files={shown.files} />;
    case "markdown":
      return (
        <Suspense fallback={<Loading rows={2} />}>
          <Markdown text={shown.text.slice(0, MAX_TEXT_LENGTH)} />
          <Cut text={shown.text} />
        </Suspense>
      );
    case "patch":
      return <Patch text={shown.text} />;
    case "difference":
      return <CodeDifference label="Differences" language="" before={shown.before} after={shown.after} />;
    case "numbers":
      return <ResultTable columns={shown.columns} rows={shown.rows} asChart />;
    case "several":
      return <Several values={shown.values} workspace={workspace} />;
    case "table":
      return <ResultTable columns={shown.columns} rows={shown.rows} selection={selection} />;
    case "error":
      return <ErrorView {...shown} source={source} />;
    case "json":
      return <JsonTree value={value} />;
  }
}

/** Maximum number of values of a result that is shown in parts. */
const MAX_PARTS = 50;

function Several({ values, workspace }: { values: unknown[]; workspace: string }) {
  return (
    <>
      {values.slice(0, MAX_PARTS).map((value, index) => {
        const shown = classifyResult(value);
        return (
          <div key={index} className="result-part">
            {/* Nested parts are shown as JSON. */}
            <Body
              shown={shown.kind === "several" ? { kind: "json" } : shown}
              value={value}
              workspace={workspace}
            />
          </div>
        );
      })}
      {values.length > MAX_PARTS && (
        <p className="quiet cut">{values.length - MAX_PARTS} more are in the file.</p>
      )}
    </>
  );
}

function Cut({ text }: { text: string }) {
  if (text.length <= MAX_TEXT_LENGTH) return null;
  return <p className="quiet cut">{text.length - MAX_TEXT_LENGTH} more characters are in the file.</p>;
}

function Plain({ text }: { text: string }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keys */}
      <pre className="plain" tabIndex={0}>
        {text.slice(0, MAX_TEXT_LENGTH)}
      </pre>
      <Cut text={text} />
    </>
  );
}
