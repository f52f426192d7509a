import { Alert, Anchor, Button, Fieldset, Group, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { Link, useLocation, useParams, useSearchParams } from "wouter";
import type { Resource } from "../../../api/interface.d.ts";
import { useMayWrite, useOwnPrefix } from "../../../api/item-rights.ts";
import { isRecord } from "../../../api/json.ts";
import { allowLeaving } from "../../../api/leaving.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { JsonEditor } from "../../../parts/form/json/JsonEditor.tsx";
import { LazySchemaForm } from "../../../parts/form/LazySchemaForm.tsx";
import { useLeaveWarning } from "../../../parts/form/leave-warning.ts";
import { hasFields, prepareForm } from "../../../parts/form/prepare.ts";
import { useStoredItem } from "../../../parts/form/use-stored-item.ts";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { resourceQuery, resourceTypesQuery, saveResource } from "./queries.ts";
import { useResourceMenu } from "./use-resource-menu.tsx";

const FORM_ID = "resource";

/** Form of a resource, generated from its type. */
export default function EditPage() {
  const workspace = useWorkspace();
  const [location, go] = useLocation();
  const { "*": rest = "" } = useParams<{ "*": string }>();
  const isNew = location === linkTo.newResource(workspace);
  const { stored, error } = useStoredItem(resourceQuery(workspace, rest), !isNew);
  const prefix = useOwnPrefix(workspace);
  const { listMenuEntries, dialogs } = useResourceMenu(workspace, () => {
    allowLeaving();
    go(linkTo.resources(workspace));
  });
  const ready = isNew ? prefix !== "" : stored !== undefined;
  return (
    <div className="page page-narrow">
      <PageHead
        title={isNew ? "New resource" : rest}
        above={
          <Anchor component={Link} href={linkTo.resources(workspace)} fz="sm">
            Resources
          </Anchor>
        }
        about={stored?.resource_type}
      >
        {stored && <RowMenu of={rest} entries={listMenuEntries(stored)} />}
      </PageHead>
      {dialogs}
      {ready ? (
        <Editor key={rest} workspace={workspace} existing={stored} prefix={prefix} />
      ) : error ? (
        <Problem error={error} />
      ) : (
        <Loading />
      )}
    </div>
  );
}

interface Props {
  workspace: string;
  existing: Resource | undefined;
  prefix: string;
}

/** Whether the value is null, which the server treats as absent. */
const isNull = (value: unknown) => (value === null ? "A value cannot be changed to null." : undefined);

function Editor({ workspace, existing, prefix }: Props) {
  const [, go] = useLocation();
  const types = useQuery(resourceTypesQuery(workspace)).data;
  const mayWrite = useMayWrite(workspace);
  const [search] = useSearchParams();
  const [path, setPath] = useState(existing?.path ?? prefix);
  const [type, setType] = useState<string | null>(existing?.resource_type ?? search.get("type"));
  const [description, setDescription] = useState(existing?.description ?? "");
  const [value, setValue] = useState<unknown>(existing ? existing.value : {});
  const [isValid, setValid] = useState(true);
  const [loaded, setLoaded] = useState(false);
  const ready = useCallback(() => setLoaded(true), []);
  const schema = types?.find(({ name }) => name === type)?.schema;
  // A form can show objects only.
  const isObject = !existing || isRecord(existing.value);
  const isForm = useMemo(() => isObject && hasFields(prepareForm(schema)), [isObject, schema]);
  const isShown = types !== undefined && (!isForm || loaded);
  useLeaveWarning([path, type, description, isValid], isShown ? value : undefined);
  const save = useMutation({
    mutationFn: () => saveResource(workspace, { path, type: type!, description, value, schema, existing }),
    onSuccess: () => {
      allowLeaving();
      go(linkTo.resources(workspace));
    },
  });
  const writes = !existing || mayWrite(existing.path, existing.extra_perms);
  const submit = () => {
    if (isForm) document.querySelector<HTMLFormElement>(`form#${FORM_ID}`)?.requestSubmit();
    else save.mutate();
  };
  return (
    <Stack>
      {!writes && (
        <Alert color="gray" variant="light">
          You can use this resource, but not change it.
        </Alert>
      )}
      {!existing && (
        <>
          <Select
            required
            searchable
            label="Type"
            placeholder="Choose a type"
            data={(types ?? [])
              .map(({ name }) => name)
              .filter((name, index, all) => all.indexOf(name) === index)}
            value={type}
            onChange={(next) => {
              setType(next);
              setValue({});
            }}
          />
          <TextInput
            required
            label="Path"
            description="Its folder decides who may use it."
            value={path}
            onChange={(event) => setPath(event.currentTarget.value)}
          />
        </>
      )}
      <Textarea
        label="Description of the resource"
        autosize
        disabled={!writes}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      {type !== null && (
        <Fieldset legend={type} className="list-field" disabled={!writes}>
          {types === undefined ? (
            <Loading rows={2} />
          ) : isForm ? (
            <LazySchemaForm
              key={type}
              id={FORM_ID}
              schema={schema}
              value={value as Record<string, unknown>}
              change={setValue}
              submit={() => save.mutate()}
              ready={ready}
            />
          ) : (
            <JsonEditor
              key={type}
              label="Value as JSON"
              value={value}
              change={setValue}
              tellValid={setValid}
              wrong={existing && isNull}
            />
          )}
        </Fieldset>
      )}
      {save.error && <Problem error={save.error} />}
      {writes && (
        <Group>
          <Button
            loading={save.isPending}
            disabled={type === null || !(isForm ? loaded : isValid)}
            onClick={submit}
          >
            Save
          </Button>
          <Button
            variant="default"
            component={Link}
            href={linkTo.resources(workspace)}
            onClick={allowLeaving}
          >
            Cancel
          </Button>
        </Group>
      )}
    </Stack>
  );
}
