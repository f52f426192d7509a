import { Anchor, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Link } from "wouter";
import { stored } from "../../../api/base.ts";
import { call } from "../../../api/call.ts";
import { memberOf } from "../../../api/session.ts";
import { to, useWorkspace } from "../../../parts/places.ts";
import { LANGUAGES, type Language } from "../../../parts/scripts.ts";
import { beginningOf } from "./beginnings.ts";
import type { Draft } from "./queries.ts";
import { ScriptEditor } from "./ScriptEditor.tsx";

interface NewDraft extends Draft {
  name: string;
}

const storageKey = (workspace: string) => stored(`new-script:${workspace}`);

/** A script that has no path yet cannot be kept by the server; the browser keeps it. */
function readKept(workspace: string): Partial<NewDraft> {
  try {
    return JSON.parse(localStorage.getItem(storageKey(workspace)) ?? "{}") as Partial<NewDraft>;
  } catch {
    return {};
  }
}

export default function NewScriptPage() {
  const workspace = useWorkspace();
  const [kept] = useState(() => readKept(workspace));
  const member = useQuery(memberOf(workspace)).data;
  const folders =
    useQuery({
      queryKey: [workspace, "folders", "names"],
      queryFn: ({ signal }) => call("GET /w/{workspace}/folders/listnames", { workspace }, signal),
    }).data ?? [];
  const [language, setLanguage] = useState<Language>(kept.language ?? "bun");
  const [folder, setFolder] = useState<string>();
  const [name, setName] = useState(kept.name ?? "");
  const [summary, setSummary] = useState(kept.summary ?? "");
  const owner = folder ?? (member ? `u/${member.username}` : "");
  const keep = useCallback(
    async (draft: Draft) => localStorage.setItem(storageKey(workspace), JSON.stringify({ ...draft, name })),
    [workspace, name],
  );
  const content =
    kept.content !== undefined && kept.language === language ? kept.content : beginningOf(language);
  return (
    <ScriptEditor
      key={language}
      workspace={workspace}
      path={owner && name ? `${owner}/${name}` : ""}
      title="New script"
      above={
        <Anchor component={Link} href={to.home(workspace)} fz="sm">
          Home
        </Anchor>
      }
      initial={{ content, language, summary }}
      keep={keep}
      onDeployed={() => localStorage.removeItem(storageKey(workspace))}
    >
      <div className="line">
        <Select
          label="Language"
          w={190}
          allowDeselect={false}
          data={LANGUAGES}
          value={language}
          onChange={(value) => setLanguage(value as Language)}
        />
        <Select
          label="Belongs to"
          w={190}
          allowDeselect={false}
          data={[...(member ? [`u/${member.username}`] : []), ...folders.map((each) => `f/${each}`)]}
          value={owner}
          onChange={(value) => setFolder(value ?? undefined)}
        />
        <TextInput
          label="Name"
          placeholder="nightly_report"
          value={name}
          onChange={(event) => setName(event.currentTarget.value.trim())}
          style={{ flex: "1 1 12rem" }}
        />
        <TextInput
          label="Summary"
          placeholder="Nightly report"
          value={summary}
          onChange={(event) => setSummary(event.currentTarget.value)}
          style={{ flex: "1 1 14rem" }}
        />
      </div>
    </ScriptEditor>
  );
}
