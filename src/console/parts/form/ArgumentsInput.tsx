import { Fieldset, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Ref, useCallback, useEffect, useMemo, useState } from "react";
import { Loading } from "../elements/Loading.tsx";
import { runnableQuery } from "../items/runnables.ts";
import { JsonArguments } from "./json/JsonArguments.tsx";
import { LazySchemaForm } from "./LazySchemaForm.tsx";
import { hasFields, prepareForm } from "./prepare.ts";
import type { RunnableRef } from "./RunnableInput.tsx";
import type { Validate } from "./SchemaForm.tsx";

const nothing = () => {};

interface Props {
  workspace: string;
  of: RunnableRef;
  value: Record<string, unknown>;
  change: (value: Record<string, unknown>) => void;
  /** Called with whether the arguments can be validated and stored. */
  tellReady: (isReady: boolean) => void;
  /** Set while there is a form: shows errors of the arguments. */
  validate: Ref<Validate>;
}

/** Arguments of a script or flow, as part of a larger form. */
export function ArgumentsInput({ workspace, of, value, change, tellReady, validate }: Props) {
  const found = useQuery(runnableQuery(workspace, of.kind, of.path));
  const schema = found.data?.schema;
  const fields = useMemo(() => hasFields(prepareForm(schema)), [schema]);
  const [isLoaded, setLoaded] = useState(false);
  const [isValid, setValid] = useState(true);
  const ready = useCallback(() => setLoaded(true), []);
  const isReady = !found.isPending && (fields ? isLoaded : isValid);
  useEffect(() => tellReady(isReady), [tellReady, isReady]);
  return (
    <Fieldset legend="Arguments" className="list-field">
      {found.isPending ? (
        <Loading rows={2} />
      ) : fields ? (
        <LazySchemaForm
          id="runnable-arguments"
          schema={schema}
          value={value}
          change={change}
          submit={nothing}
          ready={ready}
          validate={validate}
        />
      ) : found.error || Object.keys(value).length > 0 ? (
        <JsonArguments value={value} change={change} tellValid={setValid} />
      ) : (
        <Text c="dimmed">It takes no arguments.</Text>
      )}
    </Fieldset>
  );
}
