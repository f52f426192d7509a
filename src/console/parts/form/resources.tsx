/** Form field for a resource: chosen among those of the workspace, or filled in. */
import { Anchor, Autocomplete, Stack } from "@mantine/core";
import type { FieldProps } from "@rjsf/utils";
import { useQuery } from "@tanstack/react-query";
import { type ComponentType, useEffect, useState } from "react";
import { callOperation } from "../../api/call.ts";
import { isRecord } from "../../api/json.ts";
import { useWorkspace } from "../navigation/places.ts";
import { type Common, JsonText } from "./json/JsonText.tsx";
import { resourceTypesQuery } from "./resource-types.ts";

const RESOURCE_PREFIX = "$res:";

type Way = "choose" | "fill";

/**
 * Offers the resources of a type, or the fields of its value: these first if the workspace has no such type, as is
 * usual for a type that a script declares for itself.
 */
export function ResourceField(props: FieldProps) {
  const { name, schema, formData, onChange, required, uiSchema, errorSchema, fieldPathId } = props;
  const type = String(uiSchema?.["ui:options"]?.resource);
  const names = useQuery(resourceTypesQuery(useWorkspace()));
  const [chosenWay, setWay] = useState<Way>();
  const hasFields = isRecord(schema.properties) && Object.keys(schema.properties).length > 0;
  const hasType = names.data?.includes(type) ?? !hasFields;
  const way = chosenWay ?? toWay(formData) ?? (hasType ? "choose" : "fill");
  const isPending = chosenWay === undefined && formData === undefined && names.isPending;
  const change = (value: unknown) => onChange(value, fieldPathId.path);
  const isUnset = way === "fill" && hasFields && !isPending && required && formData === undefined;
  // Otherwise the whole object would be reported as missing, instead of the fields that are.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the fields appear
  useEffect(() => {
    if (isUnset) change({});
  }, [isUnset]);
  if (isPending) return null;
  const common = {
    error: errorSchema?.__errors?.join(", "),
    id: fieldPathId.$id,
    label: schema.title ?? name,
    description: schema.description,
    required: Boolean(required),
    value: formData,
    change,
  };
  const turn = (next: Way) => {
    setWay(next);
    change(undefined);
  };
  if (way === "choose") {
    return (
      <Stack gap={4}>
        <ResourcePicker {...common} type={type} />
        <Turn
          label={hasFields ? "Fill in the fields instead" : "Enter a value instead"}
          to={() => turn("fill")}
        />
      </Stack>
    );
  }
  return (
    <Stack gap={4}>
      {hasFields ? <Fields {...props} /> : <JsonText {...common} />}
      {hasType && <Turn label="Choose a resource instead" to={() => turn("choose")} />}
    </Stack>
  );
}

const toWay = (value: unknown): Way | undefined =>
  typeof value === "string" ? "choose" : typeof value === "object" && value !== null ? "fill" : undefined;

function Turn({ label, to }: { label: string; to: () => void }) {
  return (
    <Anchor component="button" type="button" fz="xs" ta="left" onClick={to}>
      {label}
    </Anchor>
  );
}

function Fields({ schema, uiSchema, formData, ...props }: FieldProps) {
  const ObjectField = props.registry.fields.ObjectField as ComponentType<FieldProps>;
  const { "ui:field": _, "ui:options": __, ...inner } = uiSchema ?? {};
  return (
    <ObjectField
      {...props}
      schema={{ ...schema, type: "object" }}
      uiSchema={inner}
      formData={isRecord(formData) ? formData : {}}
    />
  );
}

function ResourcePicker({ type, value, change, ...common }: Common & { type: string }) {
  const workspace = useWorkspace();
  const resources = useQuery({
    queryKey: [workspace, "resources", "list", type],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/resources/list",
        { workspace, query: { resource_type: type } },
        signal,
      ),
  }).data;
  return (
    <Autocomplete
      {...common}
      placeholder={`Path of a resource of type ${type}`}
      data={(resources ?? []).map(({ path }) => path)}
      value={typeof value === "string" ? value.replace(RESOURCE_PREFIX, "") : ""}
      onChange={(path) => change(path === "" ? undefined : RESOURCE_PREFIX + path)}
    />
  );
}
