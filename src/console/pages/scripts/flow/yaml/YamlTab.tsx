import { Alert, Button, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { getUserStorageKey } from "../../../../api/base.ts";
import { callOperation } from "../../../../api/call.ts";
import { whoamiQuery } from "../../../../api/session.ts";
import { Loading } from "../../../../parts/elements/Loading.tsx";
import type { Flow } from "../queries.ts";
import { DeployFlow } from "./DeployFlow.tsx";
import { readFlow } from "./problems.ts";
import { formatYaml } from "./text.ts";
import { readUnsavedText, storeUnsavedText, type UnsavedText, updateUnsavedText } from "./unsaved-text.ts";

const YamlEditor = lazy(() => import("./YamlEditor.tsx"));

const DEBOUNCE_MS = 400;

/** Edits a flow as YAML. The text is kept in the browser until it is deployed. */
export function YamlTab({ workspace, flow }: { workspace: string; flow: Flow }) {
  const email = useQuery(whoamiQuery).data?.email;
  if (email === undefined) return <Loading />;
  const key = getUserStorageKey(email, `flow-yaml:${workspace}:${flow.path}`);
  return <Editing workspace={workspace} flow={flow} storageKey={key} />;
}

function Editing({ workspace, flow, storageKey }: { workspace: string; flow: Flow; storageKey: string }) {
  const [kept, setKept] = useState(() => readUnsavedText(localStorage, storageKey));
  const [isStored, setStored] = useState(true);
  const deployed = useMemo(() => formatYaml(flow), [flow]);
  // An unedited text follows the deployed version, also if another user deploys in the meantime.
  const text = kept?.text ?? deployed;
  const base = kept?.base ?? flow.version_id;
  const isChanged = kept !== undefined;
  const [quiet, setQuiet] = useState(text);
  const [isDeploying, setDeploying] = useState(false);
  const keep = (next: UnsavedText | undefined) => {
    setKept(next);
    setStored(storeUnsavedText(localStorage, storageKey, next));
  };
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const read = useMemo(() => readFlow(quiet), [quiet]);
  const { value } = read.flow;
  const isYaml = read.problems.length === 0;
  const checked = useQuery({
    queryKey: [workspace, "flows", "check", quiet],
    queryFn: ({ signal }) =>
      callOperation("POST /w/{workspace}/flows/check", { workspace, body: { value } }, signal),
    enabled: isYaml,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  const schema = useQuery({
    queryKey: ["flow-schema"],
    queryFn: ({ signal }) => callOperation("GET /flows/json_schema", {}, signal),
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  const whole = useMemo(() => schema && createTextSchema(schema), [schema]);
  const problems = useMemo(
    () => (isYaml ? (checked?.problems ?? []).map(read.place) : read.problems),
    [isYaml, checked, read],
  );
  const isDeployable =
    isChanged &&
    quiet === text &&
    isYaml &&
    checked !== undefined &&
    !problems.some((each) => each.isRefused);
  return (
    <section aria-label="YAML" className="stack">
      <Group justify="space-between">
        <Text c="dimmed" role="status">
          {!isChanged
            ? "No changes since the last deployment"
            : isStored
              ? "Changed. The changes are saved in this browser until you deploy"
              : "Changed, but this browser has no space left to save the changes: deploy before you close the page"}
        </Text>
        <Group gap="xs">
          {isChanged && (
            <Button variant="subtle" onClick={() => keep(undefined)}>
              Discard the changes
            </Button>
          )}
          <Button disabled={!isDeployable} onClick={() => setDeploying(true)}>
            Deploy
          </Button>
        </Group>
      </Group>
      {isChanged && base !== flow.version_id && (
        <Alert color="yellow" variant="light">
          Your changes are based on version {base}; version {flow.version_id} is deployed now.
        </Alert>
      )}
      <Suspense fallback={<Loading rows={3} />}>
        <YamlEditor
          label="YAML of the flow"
          value={text}
          change={(next) => keep(updateUnsavedText(kept, { text: deployed, version: flow.version_id }, next))}
          problems={problems}
          schema={whole}
        />
      </Suspense>
      {problems.length > 0 && (
        <div role="alert">
          <ul className="problems">
            {problems.slice(0, 5).map(({ line, from, message }) => (
              <li key={`${from} ${message}`} className="wrap">
                Line {line}: {message}
              </li>
            ))}
          </ul>
        </div>
      )}
      {isDeploying && (
        <DeployFlow
          workspace={workspace}
          flow={flow}
          base={base}
          text={text}
          written={read.flow}
          close={() => setDeploying(false)}
          deployed={() => keep(undefined)}
        />
      )}
    </section>
  );
}

/** Returns the JSON Schema of the edited text: that of the flow's value, with the flow's other fields. */
function createTextSchema(value: Record<string, unknown>): Record<string, unknown> {
  const { $defs, ...rest } = value;
  return {
    $defs: { ...($defs as object | undefined), Value: rest },
    properties: {
      summary: { type: "string" },
      description: { type: "string" },
      value: { $ref: "#/$defs/Value" },
      schema: { type: "object" },
    },
    required: ["value"],
  };
}
