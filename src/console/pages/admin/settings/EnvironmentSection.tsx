import { TextInput } from "@mantine/core";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { Section } from "./Section.tsx";

export function EnvironmentSection({ workspace }: { workspace: string }) {
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const save = async () => {
    const body = { name, value: value || null };
    await call("POST /w/{workspace}/workspaces/set_environment_variable", { workspace, body });
    setName("");
    setValue("");
    return value ? `Every run has ${name} now` : `${name} is removed`;
  };
  return (
    <Section
      title="Environment of runs"
      about="A variable that every script here finds in its environment. Without a value it is removed. Secrets belong under Variables."
      isChanged={name !== ""}
      save={save}
    >
      <TextInput
        label="Name"
        placeholder="TEAM"
        value={name}
        onChange={(event) => setName(event.currentTarget.value.trim())}
      />
      <TextInput label="Value" value={value} onChange={(event) => setValue(event.currentTarget.value)} />
    </Section>
  );
}
