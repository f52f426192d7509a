import { Alert, Button, CopyButton, Group, SegmentedControl, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { url } from "../../../api/base.ts";
import { call } from "../../../api/call.ts";
import { writeJson } from "../../../api/json.ts";
import { useAction } from "../../../parts/actions.tsx";
import { Code } from "../../../parts/editor/lazy.tsx";
import { scriptAt } from "../../../parts/scripts.ts";
import { Captures } from "./Captures.tsx";
import { SNIPPETS, WEBHOOKS, type WebhookKind, webhookAddress, writeSnippet } from "./snippets.ts";

const HIDDEN_TOKEN = "YOUR_TOKEN";

/** Arguments that the schema names, with their defaults. */
function sampleArguments(schema: unknown): Record<string, unknown> {
  const { properties = {} } = (schema ?? {}) as {
    properties?: Record<string, { default?: unknown; type?: unknown }>;
  };
  const sample = (type: unknown) =>
    type === "number" || type === "integer"
      ? 1
      : type === "boolean"
        ? true
        : type === "array"
          ? []
          : type === "object"
            ? {}
            : "text";
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, field.default ?? sample(field.type)]),
  );
}

interface Props {
  workspace: string;
  path: string;
  mayWrite: boolean;
}

/** Addresses that start the script, a token for them, and what calls them. */
export function Webhooks({ workspace, path, mayWrite }: Props) {
  const [kind, setKind] = useState<WebhookKind>("async");
  const [name, setName] = useState("curl");
  const [token, setToken] = useState<string>();
  const schema = useQuery(scriptAt(workspace, path)).data?.schema;
  const { act, isPending } = useAction();
  const base = new URL(url(""), location.href).href.replace(/\/$/, "");
  const address = webhookAddress(base, workspace, kind, path);
  const args = useMemo(() => writeJson(sampleArguments(schema)), [schema]);
  const snippet = writeSnippet(name, address, token ?? HIDDEN_TOKEN, args);
  const create = () =>
    act(async () => {
      const body = {
        label: `webhook of ${path}`,
        scopes: [`jobs:run:scripts:${path}`],
        workspace_id: workspace,
      };
      setToken(await call("POST /users/tokens/create", { body }));
      return undefined;
    });
  return (
    <div className="stack">
      <section aria-label="Address">
        <SegmentedControl
          mb="xs"
          aria-label="How it is called"
          data={WEBHOOKS}
          value={kind}
          onChange={(value) => setKind(value as WebhookKind)}
        />
        <Text c="dimmed" mb="xs">
          {WEBHOOKS.find(({ value }) => value === kind)!.about}
        </Text>
        <Group wrap="nowrap" align="flex-end">
          <TextInput readOnly aria-label="Address of the webhook" value={address} style={{ flex: 1 }} />
          <Copy text={address} />
        </Group>
      </section>
      <section aria-label="Token">
        <Title order={2} mb={4}>
          Token
        </Title>
        {token === undefined ? (
          <>
            <Text c="dimmed" mb="xs">
              Whoever calls it sends a token. This one may start {path} and see what becomes of it, nothing
              else. It does not expire; revoke it under Your tokens.
            </Text>
            <Button variant="default" loading={isPending} onClick={create}>
              Make a token for it
            </Button>
          </>
        ) : (
          <Alert color="yellow" variant="light">
            <Text mb="xs">Copy it now: it is shown this once.</Text>
            <Group wrap="nowrap">
              <TextInput readOnly aria-label="Token of the webhook" value={token} style={{ flex: 1 }} />
              <Copy text={token} />
            </Group>
          </Alert>
        )}
      </section>
      <section aria-label="Call it">
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
          value={snippet}
        />
      </section>
      {mayWrite && <Captures workspace={workspace} path={path} base={base} />}
    </div>
  );
}

const Copy = ({ text }: { text: string }) => (
  <CopyButton value={text}>
    {({ copied, copy }) => (
      <Button variant="default" onClick={copy}>
        {copied ? "Copied" : "Copy"}
      </Button>
    )}
  </CopyButton>
);
