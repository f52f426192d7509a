import { ActionIcon, Anchor, Button, Image, Text, Title, Tooltip } from "@mantine/core";
import { IconBraces, IconCheck, IconCopy, IconDownload } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { addressOf } from "../../api/call.ts";
import { writeJson } from "../../api/json.ts";
import { useCopy } from "../calling/use-copy.ts";
import { tellProblem } from "../Problem.tsx";
import { ErrorView, type Source } from "./ErrorView.tsx";
import { HtmlFrame } from "./HtmlFrame.tsx";
import { JsonTree } from "./JsonTree.tsx";
import { type Shown, shownAs } from "./kinds.ts";
import { ResultTable } from "./ResultTable.tsx";
import { bytesOf, saveFile } from "./save.ts";

interface Props {
  title: string;
  workspace: string;
  value: unknown;
  /** The code that produced the value. */
  source?: Source | undefined;
}

/** Longer texts are truncated; the download is complete. */
const MAX_TEXT_LENGTH = 256_000;

/** Panel that renders arguments or a result by its kind. */
export function ResultPanel({ title, workspace, value, source }: Props) {
  const shown = useMemo(() => shownAs(value), [value]);
  const [asJson, setAsJson] = useState(false);
  const hasOther = shown.kind !== "json" && shown.kind !== "nothing" && shown.kind !== "text";
  return (
    <section className="panel" aria-label={title}>
      <div className="panel-head">
        <Title order={2}>{title}</Title>
        {hasOther && (
          <Tooltip label={asJson ? "Show it as what it is" : "Show it as JSON"}>
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
        <Body shown={shown} value={value} workspace={workspace} source={source} />
      )}
    </section>
  );
}

const write = (value: unknown) => (typeof value === "string" ? value : writeJson(value, 2));

function Actions({ name, value }: { name: string; value: unknown }) {
  const text = useMemo(() => write(value), [value]);
  const { isCopied, copy } = useCopy(text);
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
            saveFile(`${name}.${typeof value === "string" ? "txt" : "json"}`, "application/json", text)
          }
        >
          <IconDownload size={16} />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

function Body({ shown, value, workspace, source }: Omit<Props, "title"> & { shown: Shown }) {
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
      return (
        <Button
          m="md"
          variant="default"
          leftSection={<IconDownload size={16} />}
          onClick={() => {
            try {
              saveFile(shown.name, shown.type, bytesOf(shown.base64));
            } catch {
              tellProblem(new Error("The file is not base64, as it should be."));
            }
          }}
        >
          Save {shown.name}
        </Button>
      );
    case "stored":
      return (
        <Text p="md">
          <Anchor
            download
            href={addressOf("GET /w/{workspace}/job_helpers/download_s3_file", {
              workspace,
              query: { file_key: shown.key, ...(shown.storage ? { storage: shown.storage } : {}) },
            })}
          >
            {shown.key}
          </Anchor>
        </Text>
      );
    case "table":
      return <ResultTable columns={shown.columns} rows={shown.rows} />;
    case "error":
      return <ErrorView {...shown} source={source} />;
    case "json":
      return <JsonTree value={value} />;
  }
}

function Plain({ text }: { text: string }) {
  const cut = text.length > MAX_TEXT_LENGTH;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keys */}
      <pre className="plain" tabIndex={0}>
        {cut ? text.slice(0, MAX_TEXT_LENGTH) : text}
      </pre>
      {cut && (
        <Text c="dimmed" px="md" pb="sm" fz="xs">
          {text.length - MAX_TEXT_LENGTH} more characters are in the file.
        </Text>
      )}
    </>
  );
}
