import { Group, SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { Code } from "../editor/lazy.tsx";
import { Copy } from "./Copy.tsx";
import { type ExampleRequest, SNIPPETS, writeSnippet } from "./snippets.ts";

/** Code of a request, in several languages. */
export function CallExample({ request }: { request: ExampleRequest }) {
  const [name, setName] = useState("curl");
  const snippet = writeSnippet(name, request);
  return (
    <section aria-label="Call it" className="call-example">
      <Group justify="space-between" mb="xs">
        <SegmentedControl
          size="xs"
          aria-label="Language of the example"
          data={SNIPPETS}
          value={name}
          onChange={setName}
        />
        <Copy text={snippet} />
      </Group>
      <Code
        label="Example"
        language={SNIPPETS.find(({ value }) => value === name)!.language}
        value={snippet.trimEnd()}
      />
    </section>
  );
}
