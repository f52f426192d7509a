/** Shows the differences between two versions of a flow, step by step. */
import { Accordion, Text } from "@mantine/core";
import { useMemo } from "react";
import { stringify } from "yaml";
import { isEqualJson } from "../../../api/json.ts";
import { CodeDifference } from "../../../parts/editor/lazy.tsx";
import { compareFlows, omitSteps } from "./model/difference.ts";
import type { FlowDocument } from "./model/document.ts";

const WORDS = { added: "added", removed: "removed", changed: "changed", moved: "moved" } as const;

interface Props {
  before: FlowDocument;
  after: FlowDocument;
}

const asYaml = (value: unknown): string => (value === undefined ? "" : stringify(value, { lineWidth: 0 }));

export function Changes({ before, after }: Props) {
  const changes = useMemo(() => compareFlows(before, after), [before, after]);
  const settings = [omitSteps(before), omitSteps(after)] as const;
  const hasOtherSettings = !isEqualJson(...settings);
  if (changes.length === 0 && !hasOtherSettings) return <Text c="dimmed">Nothing is different.</Text>;
  return (
    <Accordion multiple variant="contained">
      {hasOtherSettings && (
        <Change
          id=""
          title="The flow itself"
          word="changed"
          before={asYaml(settings[0])}
          after={asYaml(settings[1])}
        />
      )}
      {changes.map(({ id, title, kind, before: old, after: next }) => (
        <Change key={id} id={id} title={title} word={WORDS[kind]} before={asYaml(old)} after={asYaml(next)} />
      ))}
    </Accordion>
  );
}

interface ChangeProps {
  id: string;
  title: string;
  word: string;
  before: string;
  after: string;
}

const Change = ({ id, title, word, before, after }: ChangeProps) => (
  <Accordion.Item value={id || "flow"}>
    <Accordion.Control>
      {title} <span className="quiet">· {word}</span>
    </Accordion.Control>
    <Accordion.Panel>
      <CodeDifference label={`Differences of ${title}`} language="yaml" before={before} after={after} />
    </Accordion.Panel>
  </Accordion.Item>
);
