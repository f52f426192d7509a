import { Alert, Button, SegmentedControl, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { callOperation } from "../../../api/call.ts";
import { writeJson } from "../../../api/json.ts";
import { Copied, getConsoleUrl } from "../../../parts/calling/Address.tsx";
import { CallExample } from "../../../parts/calling/CallExample.tsx";
import { getSchemeLabel } from "../../../parts/calling/signatures.ts";
import { formatWebhookUrl, WEBHOOKS, type WebhookKind } from "../../../parts/calling/snippets.ts";
import { Code } from "../../../parts/editor/lazy.tsx";
import { useAction } from "../../../parts/elements/actions.tsx";
import { Captures } from "../../../parts/form/Captures.tsx";
import { runnableQuery } from "../../../parts/items/runnables.ts";
import type { RunnableKind } from "../../../parts/navigation/places.ts";
import { deriveSchema } from "../flow-editor/model/schema-of.ts";

const HIDDEN_TOKEN = "YOUR_TOKEN";

interface Field {
  type?: unknown;
  default?: unknown;
  format?: unknown;
  enum?: unknown;
}

const OF_FORMAT: Record<string, string> = {
  date: "2030-01-31",
  "date-time": "2030-01-31T09:00:00Z",
  email: "ann@example.com",
  uri: "https://example.com",
};

const OF_TYPE: Record<string, unknown> = { number: 1, integer: 1, boolean: true, array: [], object: {} };

function sampleOf({ type, format, enum: choices, ...field }: Field): unknown {
  if (field.default !== undefined) return field.default;
  if (Array.isArray(choices) && choices.length > 0) return choices[0];
  return OF_TYPE[String(type)] ?? OF_FORMAT[String(format)] ?? "text";
}

/** Returns the arguments in the schema, with their defaults. */
function sampleArguments(schema: unknown): Record<string, unknown> {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, Field> };
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, sampleOf(field)]));
}

interface Props {
  workspace: string;
  kind: RunnableKind;
  path: string;
  mayWrite: boolean;
}

/** Webhook URLs of the script or flow, a token for them, and code examples. */
export function Webhooks({ workspace, kind: of, path, mayWrite }: Props) {
  const [kind, setKind] = useState<WebhookKind>("async");
  const [token, setToken] = useState<string>();
  const { schema, signature } = useQuery(runnableQuery(workspace, of, path)).data ?? {};
  const { act, isPending } = useAction();
  const base = getConsoleUrl();
  const address = formatWebhookUrl(base, workspace, kind, of, path);
  const args = useMemo(() => writeJson(sampleArguments(schema)), [schema]);
  const request = {
    method: "POST",
    address,
    headers: { Authorization: `Bearer ${token ?? HIDDEN_TOKEN}` },
    body: args,
  };
  const create = () =>
    act(async () => {
      const body = {
        label: `webhook of ${path}`,
        scopes: [`jobs:run:${of}s:${path}`],
        workspace_id: workspace,
      };
      setToken(await callOperation("POST /users/tokens/create", { body }));
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
        <Copied label="Address of the webhook" value={address} />
      </section>
      <section aria-label="Token">
        <Title order={2} mb={4}>
          Token
        </Title>
        {token === undefined ? (
          <>
            <Text c="dimmed" mb="xs">
              Callers authenticate with a token. A token created here can only run {path} and read the
              outcome. It does not expire; you can revoke it under Your tokens.
            </Text>
            <Button variant="default" loading={isPending} onClick={create}>
              Create a token
            </Button>
          </>
        ) : (
          <Alert color="yellow" variant="light">
            <Text mb="xs">Copy the token now: it is shown only once.</Text>
            <Copied label="Token of the webhook" value={token} />
          </Alert>
        )}
      </section>
      <section aria-label="Signature">
        <Title order={2} mb={4}>
          Signature
        </Title>
        {signature ? (
          <Text>
            Requests must also be signed in the format of {getSchemeLabel(signature.scheme)}, with the secret
            in <span className="mono">{signature.secret}</span>. Unsigned requests, including the example
            below, get the status 401 and start nothing.
          </Text>
        ) : (
          <Text c="dimmed">
            {of === "script"
              ? "Not required. If the caller can sign its requests, require signatures under Settings."
              : "Not required. To require signatures, create an HTTP route to this flow."}
          </Text>
        )}
      </section>
      <CallExample request={request} />
      {mayWrite && (
        <Captures
          workspace={workspace}
          kind={of}
          path={path}
          base={base}
          explain={(example) => (
            <details className="more">
              <summary>Schema of these arguments</summary>
              <Code
                label="Schema of the request"
                language="json"
                value={JSON.stringify(deriveSchema(example), null, 2)}
              />
            </details>
          )}
        />
      )}
    </div>
  );
}
