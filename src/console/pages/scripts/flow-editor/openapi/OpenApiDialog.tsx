/** Dialog that asks for an OpenAPI document and an operation, and creates a step that calls it. */
import { Button, FileInput, Group, Modal, Select, Text, Textarea } from "@mantine/core";
import { useMemo, useState } from "react";
import type { Fields } from "../../../../api/json.ts";
import { parseApiDocument } from "./read.ts";
import { createStep } from "./to-step.ts";

interface Props {
  insert: (step: Fields) => void;
  close: () => void;
}

export function OpenApiDialog({ insert, close }: Props) {
  const [pasted, setPasted] = useState("");
  /** Content of a file, which may be too long for a text field. */
  const [chosenFile, setChosenFile] = useState<string>();
  const source = chosenFile ?? pasted;
  const [chosen, setChosen] = useState<string | null>(null);
  const { document, problem } = useMemo(() => {
    if (source.trim() === "") return {};
    try {
      return { document: parseApiDocument(source) };
    } catch (error) {
      return { problem: (error as Error).message };
    }
  }, [source]);
  const operation = document?.operations.find(({ name }) => name === chosen);
  return (
    <Modal opened onClose={close} title="A step from an OpenAPI document" size="lg">
      <div className="stack">
        <FileInput
          label="Document"
          description="YAML or JSON, versions 2.0 to 3.1. It stays in your browser."
          placeholder="Choose a file"
          accept=".json,.yaml,.yml,application/json"
          clearable
          clearButtonProps={{ "aria-label": "Remove the file" }}
          onChange={(file) => {
            if (file) void file.text().then(setChosenFile);
            else setChosenFile(undefined);
          }}
        />
        <Textarea
          label="Or paste it"
          rows={6}
          disabled={chosenFile !== undefined}
          value={pasted}
          error={problem}
          onChange={(event) => setPasted(event.currentTarget.value)}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        />
        {document && (
          <Select
            label={`Operation of ${document.title}`}
            searchable
            limit={100}
            data={[...new Map(document.operations.map((each) => [each.name, each])).values()].map((each) => ({
              value: each.name,
              label: each.summary === each.name ? each.name : `${each.name} · ${each.summary}`,
            }))}
            value={chosen}
            onChange={setChosen}
          />
        )}
        {operation && (
          <Text c="dimmed" fz="sm">
            Its parameters become inputs of the step. Store secrets in variables.
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button
            disabled={!document || !operation}
            onClick={() => {
              insert(createStep(document!, operation!));
              close();
            }}
          >
            Insert the step
          </Button>
        </Group>
      </div>
    </Modal>
  );
}
