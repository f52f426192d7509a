import { Checkbox, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { HttpTrigger } from "../../../api/interface.d.ts";
import { RunnableInput } from "../../../parts/form/RunnableInput.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";
import { FormFooter, getInitialRunnable, useNaming } from "../form-parts.tsx";
import { RetryInput, readRetry } from "../RetryInput.tsx";
import type { TriggerFormProps } from "../TriggerEditPage.tsx";
import {
  type Callers,
  CallersInput,
  isCallersComplete,
  readCallers,
  toCallerFields,
} from "./CallersInput.tsx";
import { formatRoutePath, REQUEST_TYPES } from "./callers.ts";
import { pickUnshownFields, useSaveRoute } from "./queries.ts";
import { useMayCreateRootRoutes } from "./rights.ts";

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

export function RouteForm({ workspace, existing, initial, path: firstPath }: TriggerFormProps<HttpTrigger>) {
  const isServingFiles =
    existing?.static_asset_config !== null && existing?.static_asset_config !== undefined;
  const name = useNaming(firstPath, existing);
  const [of, setOf] = useState(getInitialRunnable(existing, initial));
  const [method, setMethod] = useState<HttpTrigger["http_method"]>(existing?.http_method ?? "post");
  const [route, setRoute] = useState(existing?.route_path ?? "");
  const [isWorkspaced, setWorkspaced] = useState(existing?.workspaced_route ?? true);
  const [requestType, setRequestType] = useState(existing?.request_type ?? "sync");
  const [callers, setCallers] = useState<Callers>(readCallers(existing));
  const [retry, setRetry] = useState(readRetry(existing));
  const mayCreateRootRoute = useMayCreateRootRoutes();
  const save = useSaveRoute(workspace, existing?.path);
  const isComplete =
    (of !== undefined || isServingFiles) && name.isNamed && route.trim() !== "" && isCallersComplete(callers);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isComplete) return;
    save.mutate({
      ...pickUnshownFields(existing),
      ...name.naming,
      script_path: of?.path ?? "",
      is_flow: of?.kind === "flow",
      http_method: method,
      route_path: route.trim().replace(/^\/+/, ""),
      workspaced_route: isWorkspaced,
      request_type: requestType,
      retry,
      ...toCallerFields(callers),
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {!isServingFiles && (
          <RunnableInput workspace={workspace} label="What it runs" value={of} change={setOf} />
        )}
        <div>
          <Group align="flex-end" wrap="nowrap">
            <Select
              label="Method"
              w="7rem"
              allowDeselect={false}
              data={METHODS.map((value) => ({ value, label: value.toUpperCase() }))}
              value={method}
              onChange={(value) => value && setMethod(value as typeof method)}
            />
            <TextInput
              required
              label="Address"
              className="mono-input"
              style={{ flex: 1 }}
              placeholder="orders/:id"
              value={route}
              onChange={(event) => setRoute(event.currentTarget.value)}
            />
          </Group>
          <Text c="dimmed" fz="xs" mt={4} className="wrap">
            {formatRoutePath(workspace, { workspaced_route: isWorkspaced, route_path: route || "…" })} · :name
            matches one segment of the path, *name all that follow. The script gets them as arguments.
          </Text>
        </div>
        {mayCreateRootRoute && (
          <Checkbox
            label={`Below the name of the workspace, /api/r/${workspace}/`}
            description="Addresses directly below /api/r/ are shared by all workspaces."
            checked={isWorkspaced}
            onChange={(event) => setWorkspaced(event.currentTarget.checked)}
          />
        )}
        <CallersInput workspace={workspace} method={method} value={callers} change={setCallers} />
        {!isServingFiles && (
          <Select
            label="Response"
            allowDeselect={false}
            data={REQUEST_TYPES}
            value={requestType}
            onChange={(value) => value && setRequestType(value as typeof requestType)}
          />
        )}
        {of?.kind === "script" && <RetryInput value={retry} change={setRetry} />}
        {name.pathField}
        {name.summaryField}
        {name.descriptionField}
        <FormFooter
          save={save}
          values={[name.naming, of, method, route, isWorkspaced, requestType, callers, retry]}
          isComplete={isComplete}
          label={existing ? "Save" : "Create the route"}
          leave={existing ? linkTo.route(workspace, existing.path) : linkTo.triggers(workspace)}
        />
      </Stack>
    </form>
  );
}
