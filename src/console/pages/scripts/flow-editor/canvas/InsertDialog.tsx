/** Dialog that asks what to insert: a new step, or a script or flow of the workspace. */
import { Combobox, Modal, ScrollArea, TextInput, useCombobox } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Fields } from "../../../../api/json.ts";
import { focusAtOnce } from "../../../../parts/elements/actions.tsx";
import { flowsQuery, scriptsQuery } from "../../../../parts/items/lists.ts";
import { createFlowStep, createScriptStep, NEW_STEPS } from "../model/new-steps.ts";

/** Maximum number of items shown; others are found by typing. */
const MAX_SHOWN = 50;

/** Steps outside of the list, each at most once. */
export type SpecialStep = "failure" | "preprocessor";

interface Choice {
  group: string;
  label: string;
  about: string;
  choose: () => void;
}

const APART: Record<SpecialStep, { label: string; about: string }> = {
  failure: { label: "Step for failures", about: "Runs when another step has failed after all retries" },
  preprocessor: {
    label: "Preprocessor",
    about: "Converts what a webhook receives to the arguments of the flow",
  },
};

interface Props {
  workspace: string;
  /** Path of the edited flow, which cannot be its own step. */
  path: string;
  insert: (step: Fields) => void;
  /** Steps outside of the list that the flow does not have yet. */
  apart: readonly SpecialStep[];
  addSpecialStep: (which: SpecialStep) => void;
  /** Continues with an OpenAPI document. */
  fromApi: () => void;
  close: () => void;
}

export function InsertDialog({ workspace, path, insert, apart, addSpecialStep, fromApi, close }: Props) {
  const combobox = useCombobox({ opened: true });
  const [search, setSearch] = useState("");
  const scripts = useQuery(scriptsQuery(workspace)).data;
  const flows = useQuery(flowsQuery(workspace)).data;
  const ofPath =
    (group: string, make: (path: string) => Fields) =>
    (item: { path: string; summary: string }): Choice => ({
      group,
      label: item.summary || item.path,
      about: item.summary ? item.path : "",
      choose: () => insert(item.summary ? { summary: item.summary, ...make(item.path) } : make(item.path)),
    });
  const choices: Choice[] = [
    ...NEW_STEPS.map(({ step, ...each }) => ({ ...each, choose: () => insert(step) })),
    {
      group: "Others",
      label: "API call",
      about: "Code that calls an operation of an OpenAPI document",
      choose: fromApi,
    },
    ...apart.map((which) => ({
      ...APART[which],
      group: "For the whole flow",
      choose: () => addSpecialStep(which),
    })),
    ...(scripts ?? []).map(ofPath("Scripts", createScriptStep)),
    ...(flows ?? []).filter((flow) => flow.path !== path).map(ofPath("Flows", createFlowStep)),
  ];
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
          close();
          choices[Number(value)]!.choose();
        }}
      >
        <Combobox.EventsTarget>
          <TextInput
            data-autofocus
            ref={focusAtOnce}
            aria-label="Search steps, scripts and flows"
            placeholder="Search steps, scripts and flows"
            value={search}
            // The list of options keeps Escape from the dialog.
            onKeyDown={(event) => event.key === "Escape" && close()}
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
                        {each.about && <span className="quiet wrap">{each.about}</span>}
                      </span>
                    </Combobox.Option>
                  ))}
              </Combobox.Group>
            ))}
            {found.length === 0 && <Combobox.Empty>Nothing found.</Combobox.Empty>}
            {found.length > shown.length && (
              <Combobox.Footer>{found.length - shown.length} more: type to find them.</Combobox.Footer>
            )}
          </Combobox.Options>
        </ScrollArea.Autosize>
      </Combobox>
    </Modal>
  );
}
