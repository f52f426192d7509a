import { Button, JsonInput, Switch, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { callOperation } from "../../../api/call.ts";
import { parseJson, writeJson } from "../../../api/json.ts";
import { useMay } from "../../../api/session.ts";
import { FormDialog } from "../../../parts/elements/actions.tsx";
import { type Column, DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { type Setting, settingsQuery } from "./queries.ts";

const SOURCES: Record<Setting["source"], string> = {
  flag: "command-line flag",
  environment: "environment variable",
  directory: "data directory",
  stored: "set here",
  default: "default",
};

const shownValue = (value: unknown): string => {
  if (value === null || value === undefined) return "not set";
  return typeof value === "string" ? value : writeJson(value);
};

export function Settings() {
  const settings = useQuery(settingsQuery);
  const mayChange = useMay()("POST /settings/global/{key}", "superAdmin");
  const [search, setSearch] = useSearchParams();
  const text = search.get("q") ?? "";
  const [isAll, setAll] = useState(false);
  const [changed, setChanged] = useState<Setting>();
  if (settings.error) return <Problem error={settings.error} retry={() => void settings.refetch()} />;
  if (!settings.data) return <Loading />;
  const wanted = text.toLowerCase();
  const rows = settings.data.filter(
    ({ name, meaning = "", source }) =>
      (isAll || wanted !== "" || source !== "default") && `${name} ${meaning}`.toLowerCase().includes(wanted),
  );
  const columns: Column<Setting>[] = [
    {
      name: "Setting",
      width: "minmax(0, 2fr)",
      cell: ({ name, meaning }) => (
        <>
          <div className="mono">{name}</div>
          <div className="quiet">{meaning}</div>
        </>
      ),
    },
    {
      name: "Value",
      width: "minmax(0, 1.5fr)",
      cell: ({ value }) => <span className="mono clip-lines">{shownValue(value)}</span>,
    },
    {
      name: "Source",
      width: "9rem",
      cell: ({ source, variable }) => (
        <span className="quiet" title={variable}>
          {SOURCES[source]}
        </span>
      ),
    },
    {
      name: "",
      width: "6rem",
      cell: (setting) =>
        mayChange && (
          <Button
            size="xs"
            variant="default"
            aria-label={`Change ${setting.name}`}
            onClick={() => setChanged(setting)}
          >
            Change
          </Button>
        ),
    },
  ];
  return (
    <>
      <div className="line">
        <TextInput
          data-search
          aria-label="Search settings"
          placeholder="Search by name or description"
          value={text}
          onChange={(event) => {
            const q = event.currentTarget.value;
            setSearch({ tab: "settings", ...(q ? { q } : {}) }, { replace: true });
          }}
          style={{ flex: "1 1 14rem" }}
        />
        <Switch
          label="Include defaults"
          checked={isAll}
          onChange={(event) => setAll(event.currentTarget.checked)}
        />
      </div>
      {rows.length === 0 ? (
        <Empty
          title={text ? "No setting matches" : "Every setting has its default"}
          command="svc config --all"
        >
          Search for a setting, or turn on “Include defaults”.
        </Empty>
      ) : (
        <DataTable label="Settings" columns={columns} rows={rows} keyOf={({ name }) => name} />
      )}
      {changed && <ChangeSetting key={changed.name} setting={changed} close={() => setChanged(undefined)} />}
    </>
  );
}

function ChangeSetting({ setting, close }: { setting: Setting; close: () => void }) {
  const { name, meaning, source, variable } = setting;
  const [text, setText] = useState(setting.value == null ? "" : writeJson(setting.value));
  const wins = source === "flag" || source === "environment";
  return (
    <FormDialog
      title={name}
      opened
      close={close}
      label="Save"
      size="lg"
      action={async () => {
        const value = text.trim() === "" ? null : parseJson(text);
        return callOperation("POST /settings/global/{key}", { key: name, body: { value } });
      }}
    >
      <Text c="dimmed">{meaning}</Text>
      {wins && (
        <Text c="var(--waiting)">
          {source === "flag" ? "A command-line flag" : `The environment variable ${variable}`} sets it and
          overrides the value saved here.
        </Text>
      )}
      <JsonInput
        data-autofocus
        label="Value, as JSON"
        description="Empty: the default applies"
        autosize
        minRows={2}
        maxRows={16}
        value={text}
        onChange={setText}
      />
    </FormDialog>
  );
}
