import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import { useConfirmation } from "../../../parts/elements/actions.tsx";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { environmentQuery } from "./queries.ts";
import { Section } from "./Section.tsx";

/** Variables that every script of the workspace finds in its environment. */
export function EnvironmentSection({ workspace }: { workspace: string }) {
  const { data = [], error } = useQuery(environmentQuery(workspace));
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const { ask, dialog } = useConfirmation();
  const store = (body: { name: string; value: string | null }) =>
    callOperation("POST /w/{workspace}/workspaces/set_environment_variable", { workspace, body });
  const save = async () => {
    await store({ name, value });
    setName("");
    setValue("");
    return `${name} is set for all new runs`;
  };
  const remove = (removed: string) =>
    ask({
      title: `Remove ${removed}?`,
      text: "From their next run on, scripts no longer have this variable.",
      label: "Remove",
      action: async () => {
        await store({ name: removed, value: null });
        return `${removed} is removed`;
      },
    });
  // The dialog is a form of its own: inside the section its submission would submit the section too.
  return (
    <>
      <Section
        title="Environment variables"
        about="Set for every script of this workspace, and readable by every member. Store secrets under Variables."
        isChanged={name !== "" && value !== ""}
        save={save}
      >
        {error && <Problem error={error} />}
        {data.length > 0 && (
          <DataTable
            label="Environment variables"
            rows={data}
            keyOf={(each) => each.name}
            columns={[
              {
                name: "Name",
                width: "minmax(0, 1fr)",
                cell: (each) => <span className="mono wrap">{each.name}</span>,
              },
              {
                name: "Value",
                width: "minmax(0, 1.5fr)",
                cell: (each) => <div className="mono clip">{each.value}</div>,
              },
              {
                name: "",
                width: "2rem",
                cell: (each) => (
                  <RowMenu
                    of={each.name}
                    entries={[
                      {
                        label: "Change",
                        onClick: () => {
                          setName(each.name);
                          setValue(each.value);
                        },
                      },
                      { label: "Remove", onClick: () => remove(each.name), isDangerous: true },
                    ]}
                  />
                ),
              },
            ]}
          />
        )}
        <TextInput
          label="Name"
          placeholder="TEAM"
          value={name}
          onChange={(event) => setName(event.currentTarget.value.trim())}
        />
        <TextInput label="Value" value={value} onChange={(event) => setValue(event.currentTarget.value)} />
      </Section>
      {dialog}
    </>
  );
}
