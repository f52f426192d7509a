/** Form fields for the path of a new script or flow: owner, name and summary. */
import { Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { callOperation } from "../../api/call.ts";
import { useMayWrite } from "../../api/item-rights.ts";
import { memberQuery } from "../../api/session.ts";

export interface NewPath {
  /** Such as `f/finance`; empty: the user. */
  owner: string;
  name: string;
  summary: string;
}

/** Whether a name below an owner is valid: letters, digits, `_`, `-` and `/`. */
export const isValidName = (name: string): boolean => /^[\w-]+(\/[\w-]+)*$/.test(name);

/** Returns the owners below which the user may create items, the user first. */
export function useOwners(workspace: string): string[] {
  const member = useQuery(memberQuery(workspace)).data;
  const mayWrite = useMayWrite(workspace);
  const folders =
    useQuery({
      queryKey: [workspace, "folders", "names"],
      queryFn: ({ signal }) => callOperation("GET /w/{workspace}/folders/listnames", { workspace }, signal),
    }).data ?? [];
  if (!member) return [];
  const owned = folders.map((each) => `f/${each}`).filter((owner) => mayWrite(`${owner}/`));
  return [`u/${member.username}`, ...owned];
}

interface Props {
  owners: string[];
  value: NewPath;
  change: (value: NewPath) => void;
}

export function NewPathFields({ owners, value, change }: Props) {
  return (
    <>
      <Select
        label="Belongs to"
        w={190}
        allowDeselect={false}
        data={owners}
        value={value.owner || (owners[0] ?? null)}
        onChange={(owner) => change({ ...value, owner: owner ?? "" })}
      />
      <TextInput
        label="Name"
        placeholder="nightly_report"
        description="Letters, digits, _, - and /"
        inputWrapperOrder={["label", "input", "description"]}
        value={value.name}
        onChange={(event) => change({ ...value, name: event.currentTarget.value.trim() })}
        style={{ flex: "1 1 12rem" }}
      />
      <TextInput
        label="Summary"
        placeholder="Nightly report"
        value={value.summary}
        onChange={(event) => change({ ...value, summary: event.currentTarget.value })}
        style={{ flex: "1 1 14rem" }}
      />
    </>
  );
}
