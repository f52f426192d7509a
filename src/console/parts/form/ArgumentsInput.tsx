import { Fieldset, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo } from "react";
import { runnable } from "../items/runnables.ts";
import { Loading } from "../Loading.tsx";
import { JsonArguments } from "./JsonArguments.tsx";
import { hasFields, prepare } from "./prepare.ts";
import type { RunnableRef } from "./RunnableInput.tsx";

const SchemaForm = lazy(() => import("./SchemaForm.tsx"));
const nothing = () => {};

interface Props {
  workspace: string;
  of: RunnableRef;
  value: Record<string, unknown>;
  change: (value: Record<string, unknown>) => void;
}

/** Arguments of a script or flow, as part of a larger form. */
export function ArgumentsInput({ workspace, of, value, change }: Props) {
  const found = useQuery(runnable(workspace, of.kind, of.path));
  const schema = found.data?.schema;
  const fields = useMemo(() => hasFields(prepare(schema)), [schema]);
  return (
    <Fieldset legend="Arguments" className="list-field">
      {found.isPending ? (
        <Loading rows={2} />
      ) : fields ? (
        <Suspense fallback={<Loading rows={2} />}>
          <SchemaForm
            id="runnable-arguments"
            schema={schema}
            value={value}
            change={change}
            submit={nothing}
            ready={nothing}
          />
        </Suspense>
      ) : found.error || Object.keys(value).length > 0 ? (
        <JsonArguments value={value} change={change} />
      ) : (
        <Text c="dimmed">It takes none.</Text>
      )}
    </Fieldset>
  );
}
