import {
  ActionIcon,
  Button,
  Group,
  Menu,
  Paper,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { IconCalendarTime, IconDots, IconLink, IconPlayerPlay } from "@tabler/icons-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { isEqualJson } from "../../../api/json.ts";
import { copyText } from "../../../parts/calling/clipboard.ts";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { formatLocalInput } from "../../../parts/elements/time.tsx";
import { clearPassedArguments, getPassedArguments } from "../../../parts/form/history-state/handover.ts";
import { omitSecrets } from "../../../parts/form/history-state/secret-fields.ts";
import { useHistoryState } from "../../../parts/form/history-state/use-history-state.ts";
import { JsonArguments } from "../../../parts/form/json/JsonArguments.tsx";
import { LazySchemaForm } from "../../../parts/form/LazySchemaForm.tsx";
import { hasFields, prepareForm } from "../../../parts/form/prepare.ts";
import { getKnownResourceTypes } from "../../../parts/form/resource-types.ts";
import { linkTo, type RunnableKind } from "../../../parts/navigation/places.ts";
import { useStartRun } from "./queries.ts";
import { createSharedLink } from "./shared-link.ts";

const FORM_ID = "arguments";
const HOUR_MS = 3_600_000;

interface Props {
  workspace: string;
  kind: RunnableKind;
  path: string;
  schema: unknown;
  initial: Record<string, unknown>;
}

export function RunForm({ workspace, kind, path, schema, initial }: Props) {
  const [args, setArgs, keepArgs] = useHistoryState(
    "arguments",
    schema,
    () => getPassedArguments(linkTo.begin(workspace, kind, path)) ?? initial,
  );
  useEffect(clearPassedArguments, []);
  const [asJson, setAsJson] = useState(false);
  const [loaded, setLoaded] = useState(false);
  const [isValid, setValid] = useState(true);
  const [later, setLater] = useState<string>();
  const begin = useStartRun(workspace, kind, path);
  const fields = useMemo(() => hasFields(prepareForm(schema)), [schema]);
  // Set at once: another press of the keys may come before the next rendering.
  const isStarting = useRef(false);
  const start = () => {
    if (later === "" || isStarting.current) return;
    isStarting.current = true;
    keepArgs();
    begin.mutate(
      { args, at: later ? new Date(later).toISOString() : undefined },
      {
        onError: () => {
          isStarting.current = false;
        },
      },
    );
  };
  const ready = useCallback(() => setLoaded(true), []);
  const isForm = fields && !asJson;
  const submit = () => {
    if (isForm) document.querySelector<HTMLFormElement>(`form#${FORM_ID}`)?.requestSubmit();
    else if (isValid) start();
  };
  useHotkeys([["mod+Enter", submit]], []);
  const share = async () => {
    const open = omitSecrets(schema, args, getKnownResourceTypes(workspace));
    await copyText(createSharedLink(open));
    const message = isEqualJson(open, args) ? "the arguments" : "the arguments without secrets";
    notifications.show({
      message: `The link is copied. It contains ${message}: be careful with whom you share it.`,
    });
  };
  return (
    <Stack>
      <Paper p="lg">
        <Group justify="space-between" mb="md">
          <Text fw={600}>Arguments</Text>
          {fields && (
            <SegmentedControl
              size="xs"
              aria-label="How arguments are given"
              value={asJson ? "json" : "form"}
              onChange={(value) => setAsJson(value === "json")}
              data={[
                { value: "form", label: "Form" },
                { value: "json", label: "JSON" },
              ]}
            />
          )}
        </Group>
        {isForm ? (
          <LazySchemaForm
            id={FORM_ID}
            schema={schema}
            value={args}
            change={setArgs}
            submit={start}
            ready={ready}
          />
        ) : fields || Object.keys(args).length > 0 ? (
          <JsonArguments value={args} change={setArgs} tellValid={setValid} />
        ) : (
          <Text c="dimmed">It takes no arguments.</Text>
        )}
      </Paper>
      {later !== undefined && (
        <TextInput
          type="datetime-local"
          label="When it runs"
          description={`In your time zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}`}
          required
          withAsterisk={false}
          value={later}
          onChange={(event) => setLater(event.currentTarget.value)}
        />
      )}
      {begin.error && <Problem error={begin.error} />}
      <Group>
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          loading={begin.isPending}
          disabled={(isForm ? !loaded : !isValid) || later === ""}
          onClick={submit}
        >
          {later === undefined ? "Run" : "Schedule"}
        </Button>
        <Menu position="bottom-start">
          <Menu.Target>
            <ActionIcon variant="default" size={36} aria-label="More ways to run it">
              <IconDots size={18} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item
              leftSection={<IconCalendarTime size={16} />}
              onClick={() =>
                setLater(later === undefined ? formatLocalInput(Date.now() + HOUR_MS) : undefined)
              }
            >
              {later === undefined ? "Run it later, once" : "Run it now"}
            </Menu.Item>
            <Menu.Item leftSection={<IconLink size={16} />} onClick={() => void share()}>
              Copy a link with these arguments
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
    </Stack>
  );
}
