import { Anchor, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { getUserStorageKey } from "../../../api/base.ts";
import { callOperation } from "../../../api/call.ts";
import { whoamiQuery } from "../../../api/session.ts";
import { getInitialCode } from "../../../parts/editor/initial-code.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { LANGUAGES, type Language } from "../../../parts/items/languages.ts";
import { type NewPath, NewPathFields, useOwners } from "../../../parts/items/NewPath.tsx";
import type { NewScript as NewScriptBody } from "../../../parts/items/scripts.ts";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import type { Draft } from "./queries.ts";
import { ScriptEditor } from "./ScriptEditor.tsx";

/** The browser keeps a draft until it has a path and is saved as a draft on the server, or deployed. */
interface NewDraft extends Omit<Draft, "content"> {
  /** The text in each language. */
  texts: Partial<Record<Language, string>>;
}

function readKept(key: string): Partial<NewDraft> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<NewDraft>;
  } catch {
    return {};
  }
}

export default function NewScriptPage() {
  const workspace = useWorkspace();
  const email = useQuery(whoamiQuery).data?.email;
  if (email === undefined) return <Loading />;
  const key = getUserStorageKey(email, `new-script:${workspace}`);
  return <NewScript key={key} workspace={workspace} storageKey={key} />;
}

function NewScript({ workspace, storageKey }: { workspace: string; storageKey: string }) {
  const [kept] = useState(() => readKept(storageKey));
  // Updated when the editor of one language is left; the editor of the next language starts with it.
  const texts = useRef(kept.texts ?? {});
  const owners = useOwners(workspace);
  const [language, setLanguage] = useState<Language>(kept.language ?? "bun");
  const [place, setPlace] = useState<NewPath>({
    owner: "",
    name: kept.name ?? "",
    summary: kept.summary ?? "",
  });
  const { name, summary } = place;
  const owner = place.owner || (owners[0] ?? "");
  const [store] = useState(() => ({
    save: async ({ content, language: written, ...rest }: Draft) => {
      texts.current = { ...texts.current, [written]: content };
      const draft = { ...rest, language: written, texts: texts.current };
      localStorage.setItem(storageKey, JSON.stringify(draft));
    },
  }));
  const path = owner && name ? `${owner}/${name}` : "";
  const [, go] = useLocation();
  const begin = async (script: NewScriptBody) => {
    if (await callOperation("GET /w/{workspace}/scripts/exists/p/{path}", { workspace, path }))
      throw new Error(`There is a script at ${path} already: take another name.`);
    await callOperation("POST /w/{workspace}/scripts/create", {
      workspace,
      body: { ...script, draft_only: true },
    });
    localStorage.removeItem(storageKey);
    go(linkTo.editScript(workspace, path), { replace: true });
  };
  const content = texts.current[language] ?? getInitialCode(language);
  return (
    <ScriptEditor
      key={language}
      workspace={workspace}
      path={path}
      title="New script"
      above={
        <Anchor component={Link} href={linkTo.home(workspace)} fz="sm">
          Home
        </Anchor>
      }
      initial={{ content, language, summary, name }}
      store={store}
      begin={begin}
      onDeployed={() => localStorage.removeItem(storageKey)}
    >
      <div className="line at-top">
        <Select
          label="Language"
          w={190}
          allowDeselect={false}
          data={LANGUAGES}
          value={language}
          onChange={(value) => setLanguage(value as Language)}
        />
        <NewPathFields owners={owners} value={place} change={setPlace} />
      </div>
    </ScriptEditor>
  );
}
