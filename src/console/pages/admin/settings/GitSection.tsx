import { Checkbox, Group, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { callOperation, type Input } from "../../../api/call.ts";
import { useMay } from "../../../api/session.ts";
import { Copy } from "../../../parts/calling/Copy.tsx";
import type { SectionProps } from "./GeneralSections.tsx";
import { Section } from "./Section.tsx";

type GitSync = NonNullable<
  Input<"POST /w/{workspace}/workspaces/edit_git_sync_config">["body"]["git_sync_settings"]
>;
type Kind = NonNullable<GitSync["include_type"]>[number];

const KINDS: { value: Kind; label: string }[] = [
  { value: "script", label: "Scripts" },
  { value: "flow", label: "Flows" },
  { value: "app", label: "Apps" },
  { value: "folder", label: "Folders" },
  { value: "resource", label: "Resources" },
  { value: "resourcetype", label: "Resource types" },
  { value: "variable", label: "Variables" },
  { value: "secret", label: "Secrets" },
  { value: "schedule", label: "Schedules" },
  { value: "trigger", label: "Triggers" },
  { value: "user", label: "Users" },
  { value: "group", label: "Groups" },
  { value: "settings", label: "Settings" },
  { value: "key", label: "Encryption key" },
];

/**
 * Explains how to keep a workspace in a git repository with the CLI, and edits the git sync settings of other clients.
 */
export function GitSection({ workspace, settings, isAdmin }: SectionProps) {
  const stored: GitSync = settings.git_sync ?? {};
  const [paths, setPaths] = useState((stored.include_path ?? []).join("\n"));
  const [kinds, setKinds] = useState<string[]>(stored.include_type ?? []);
  const save = async () => {
    const include_path = paths
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
    const git_sync_settings = { ...stored, include_path, include_type: kinds as Kind[] };
    await callOperation("POST /w/{workspace}/workspaces/edit_git_sync_config", {
      workspace,
      body: { git_sync_settings },
    });
    return "The selection is saved";
  };
  const deploys = useMay(workspace)("POST /w/{workspace}/scripts/create", "author");
  const pull = `svc pull ./${workspace} --yes`;
  const commands = deploys ? `${pull}\nsvc push ./${workspace} --dry-run` : pull;
  return (
    <>
      <Section
        title="Git repository"
        about={`svc pull writes the workspace to a folder that you can commit.${
          deploys ? " svc push deploys the changes made there; --dry-run only shows them." : ""
        }`}
      >
        <Group wrap="nowrap" align="flex-start">
          <Text component="pre" className="mono wrap" style={{ flex: 1, margin: 0 }}>
            {commands}
          </Text>
          <Copy text={commands} />
        </Group>
      </Section>
      <Section
        title="Selection for other clients"
        about="Clients with their own git sync, such as wmill, read here what to sync. The server itself syncs nothing."
        {...(isAdmin ? { save } : {})}
      >
        <Textarea
          label="Paths, one per line"
          placeholder="f/**"
          className="mono-input"
          autosize
          minRows={2}
          readOnly={!isAdmin}
          value={paths}
          onChange={(event) => setPaths(event.currentTarget.value)}
        />
        <Checkbox.Group label="Kinds" value={kinds} onChange={setKinds}>
          <Group gap="sm" mt={4}>
            {KINDS.map(({ value, label }) => (
              <Checkbox key={value} value={value} label={label} disabled={!isAdmin} />
            ))}
          </Group>
        </Checkbox.Group>
        {(stored.repositories ?? []).length > 0 && (
          <div>
            <Text fz="sm" fw={500}>
              Repositories
            </Text>
            {stored.repositories!.map(({ git_repo_resource_path, script_path }) => (
              <div key={`${git_repo_resource_path} ${script_path}`} className="mono wrap">
                {git_repo_resource_path} <span className="quiet">by {script_path}</span>
              </div>
            ))}
          </div>
        )}
      </Section>
    </>
  );
}
