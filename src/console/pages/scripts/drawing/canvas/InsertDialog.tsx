/** Dialog that asks what to insert: a new step, or a script or flow of the workspace. */
import { Combobox, Modal, ScrollArea, TextInput, useCombobox } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Fields } from "../../../../api/json.ts";
import { flowList, scriptList } from "../../../../parts/lists.ts";
import { NEW_STEPS, newFlow, newScript } from "../model/new-steps.ts";

/** Maximum number of items shown; others are found by typing. */
const MAX_SHOWN = 50;

interface Choice {
  group: string;
  label: string;
  about: string;
  /** Undefined: the user chooses an operation of an OpenAPI document. */
  step: Fields | undefined;
}

interface Props {
  workspace: string;
  /** Path of the edited flow, which cannot be its own step. */
  path: string;
  insert: (step: Fields) => void;
  /** Continues with an OpenAPI document. */
  fromApi: () => void;
  close: () => void;
}

export function InsertDialog({ workspace, path, insert, fromApi, close }: Props) {
  const combobox = useCombobox({ opened: true });
  const [search, setSearch] = useState("");
  const scripts = useQuery(scriptList(workspace)).data;
  const flows = useQuery(flowList(workspace)).data;
  const choices = useMemo((): Choice[] => {
    const ofPath =
      (group: string, make: (path: string) => Fields) => (item: { path: string; summary: string }) => ({
        group,
        label: item.summary || item.path,
        about: item.path,
        step: item.summary ? { summary: item.summary, ...make(item.path) } : make(item.path),
      });
    return [
      ...NEW_STEPS.map((each) => ({ group: "New", ...each })),
      {
        group: "New",
        label: "Call of an API",
        about: "Code that calls an operation of an OpenAPI document",
        step: undefined,
      },
      ...(scripts ?? []).map(ofPath("Scripts", newScript)),
      ...(flows ?? []).filter((flow) => flow.path !== path).map(ofPath("Flows", newFlow)),
    ];
  }, [scripts, flows, path]);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = choices.filter(({ label, about }) =>
    words.every((word) => `${label} ${about}`.toLowerCase().includes(word)),
  );
  const shown = found.slice(0, MAX_SHOWN);
  const groups = [...new Set(shown.map(({ group }) => group))];
  return (
    <Modal opened onClose={close} title="Insert a step" size="md">
      <Combobox
        store={combobox}
        onOptionSubmit={(value) => {
          const { step } = choices[Number(value)]!;
          close();
          if (step) insert(step);
          else fromApi();
        }}
      >
        <Combobox.EventsTarget>
          <TextInput
            data-autofocus
            aria-label="Search steps, scripts and flows"
            placeholder="Search steps, scripts and flows"
            value={search}
            onChange={(event) => {
              setSearch(event.currentTarget.value);
              combobox.selectFirstOption();
            }}
          />
        </Combobox.EventsTarget>
        <ScrollArea.Autosize mah="24rem" type="auto" mt="sm" viewportProps={{ tabIndex: 0 }}>
          <Combobox.Options aria-label="Steps">
            {groups.map((group) => (
              <Combobox.Group key={group} label={group}>
                {shown
                  .filter((each) => each.group === group)
                  .map((each) => (
                    <Combobox.Option key={choices.indexOf(each)} value={String(choices.indexOf(each))}>
                      <span className="step-name">
                        <span>{each.label}</span>
                        <span className="quiet wrap">{each.about}</span>
                      </span>
                    </Combobox.Option>
                  ))}
              </Combobox.Group>
            ))}
            {found.length === 0 && <Combobox.Empty>Nothing has this name.</Combobox.Empty>}
            {found.length > shown.length && (
              <Combobox.Footer>{found.length - shown.length} more: type to find them.</Combobox.Footer>
            )}
          </Combobox.Options>
        </ScrollArea.Autosize>
      </Combobox>
    </Modal>
  );
}
