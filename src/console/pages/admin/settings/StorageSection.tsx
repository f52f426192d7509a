import { Checkbox, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { SectionProps } from "./GeneralSections.tsx";
import { Section } from "./Section.tsx";

type Type = "" | "FilesystemStorage" | "S3Storage";

const TYPES: { value: Type; label: string }[] = [
  { value: "", label: "No storage" },
  { value: "FilesystemStorage", label: "A folder on the server" },
  { value: "S3Storage", label: "S3-compatible storage" },
];

export function StorageSection({ workspace, settings, isAdmin }: SectionProps) {
  const stored = settings.large_file_storage;
  const [type, setType] = useState<Type>(stored?.type ?? "");
  const [path, setPath] = useState(stored?.s3_resource_path?.replace(/^\$res:/, "") ?? "");
  const [isPublic, setPublic] = useState(stored?.public_resource ?? false);
  const save = async () => {
    const s3 = type === "S3Storage" ? { s3_resource_path: path.trim() } : {};
    const large_file_storage =
      type === "" ? null : { ...(stored ?? {}), type, ...s3, public_resource: isPublic };
    await callOperation("POST /w/{workspace}/workspaces/edit_large_file_storage_config", {
      workspace,
      body: { large_file_storage },
    });
    if (type === "") return "The storage is removed";
    return `Connection test: ${await callOperation("GET /w/{workspace}/job_helpers/test_connection", { workspace })}`;
  };
  return (
    <Section
      title="Files"
      about="Where scripts and forms store files. The connection is tested when you save."
      label="Save and test"
      {...(isAdmin ? { save } : {})}
      isChanged={type !== "S3Storage" || path.trim() !== ""}
    >
      <Select
        aria-label="Storage"
        allowDeselect={false}
        readOnly={!isAdmin}
        data={TYPES}
        value={type}
        onChange={(value) => setType((value ?? "") as Type)}
      />
      {type === "S3Storage" && (
        <TextInput
          label="Resource with the address and access keys"
          placeholder="f/ops/storage"
          readOnly={!isAdmin}
          value={path}
          onChange={(event) => setPath(event.currentTarget.value)}
        />
      )}
      {type !== "" && (
        <Checkbox
          label="Every member can read and write all files"
          disabled={!isAdmin}
          checked={isPublic}
          onChange={(event) => setPublic(event.currentTarget.checked)}
        />
      )}
    </Section>
  );
}
