import { Button, Text } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { type ReactNode, useMemo, useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { Script } from "../../../api/interface.d.ts";
import { useAnalysis } from "../../../parts/editor/analysis.ts";
import { type DraftStore, useDraftSaver } from "../../../parts/editor/draft-saver.ts";
import { Code } from "../../../parts/editor/lazy.tsx";
import { SavedElsewhereAlert } from "../../../parts/editor/SavedElsewhereAlert.tsx";
import { useAction } from "../../../parts/elements/actions.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { type NewScript, toNewScript } from "../../../parts/items/scripts.ts";
import { Deploy } from "./Deploy.tsx";
import { mergeSchema } from "./merge-schema.ts";
import type { Draft } from "./queries.ts";
import { TestRun } from "./TestRun.tsx";

interface Props {
  workspace: string;
  path: string;
  title: string;
  above: ReactNode;
  /** Rendered between the header and the code. */
  children?: ReactNode;
  /** Initial code and base version; read once. */
  initial: Draft;
  /** The deployed version when the page was opened; read once. */
  deployed?: Script;
  /** Whether there was a draft already. */
  hasDraft?: boolean;
  store: DraftStore<Draft>;
  /** Reopens the editor with the stored draft. */
  reopen?: () => Promise<unknown>;
  /** Discards the draft with `end`; nothing is saved in the meantime. */
  discard?: (end: (action: () => Promise<void>) => Promise<void>) => void;
  /** Stores a new script as a draft, and leaves the page. */
  begin?: (script: NewScript) => Promise<void>;
  onDeployed?: () => void;
}

/** Editor with a test run beside it. The text is saved as a draft until it is deployed. */
export function ScriptEditor(props: Props) {
  const { workspace, path, initial, discard } = props;
  const { language, summary } = initial;
  // Reloaded data must not replace the text being edited, or its base version.
  const [deployed] = useState(props.deployed);
  const [{ content: first, parent_hash: base }] = useState(initial);
  const [content, setContent] = useState(first);
  const [isDeploying, setDeploying] = useState(false);
  const [hasDraft, setHasDraft] = useState(props.hasDraft ?? false);
  const draft = { ...initial, content, ...(base === undefined ? {} : { parent_hash: base }) };
  const { kept, end, keepMine } = useDraftSaver<Draft>(draft, props.store);
  if (kept === "kept" && !hasDraft) setHasDraft(true);
  const { act } = useAction();
  const analysis = useAnalysis(workspace, language, content);
  const isDeployable = path !== "" && kept !== "elsewhere" && analysis !== undefined && !analysis.problem;
  const open = () => isDeployable && setDeploying(true);
  useHotkeys([["mod+S", open]], [], true);
  const schema = useMemo(
    () => mergeSchema(deployed?.schema, analysis?.schema),
    [deployed?.schema, analysis?.schema],
  );
  /** Returns the editor's code with the settings of a version. */
  const over = (version: Script | undefined): NewScript =>
    version
      ? {
          ...toNewScript(version),
          content,
          language,
          schema: mergeSchema(version.schema, analysis?.schema),
        }
      : { path, content, language, summary, description: "", schema };
  const problem = analysis?.problem;
  return (
    <div className="page page-wide">
      <PageHead
        title={props.title}
        above={props.above}
        about={
          <span role="status">
            {kept === "saving" && "Saving the draft…"}
            {kept === "kept" && "The draft is saved"}
            {kept === "failed" && "The draft could not be saved: do not close this page"}
            {path === "" && `${kept === "" ? "" : ". "}Give it a name to deploy it`}
          </span>
        }
      >
        {discard && hasDraft && (
          <Button variant="subtle" onClick={() => discard(end)}>
            Discard the draft
          </Button>
        )}
        {props.begin && (
          <Button
            variant="default"
            disabled={path === ""}
            onClick={() =>
              act(async () => {
                await end(() => props.begin!(over(undefined)));
                return undefined;
              })
            }
          >
            Save as a draft
          </Button>
        )}
        <Button disabled={!isDeployable} onClick={open}>
          Deploy
        </Button>
      </PageHead>
      {kept === "elsewhere" && props.reopen && (
        <SavedElsewhereAlert showOther={props.reopen} keepMine={keepMine} />
      )}
      {props.children}
      <div className="edit-columns">
        <div>
          <Code label="Code" language={language} value={first} change={setContent} problem={problem} />
          <Text mt="xs" fz="xs" c={problem ? "var(--bad)" : "dimmed"} role={problem ? "alert" : undefined}>
            {problem
              ? `${problem.line === undefined ? "" : `Line ${problem.line}: `}${problem.message}`
              : describe(analysis)}
          </Text>
        </div>
        <TestRun workspace={workspace} path={path} language={language} content={content} schema={schema} />
      </div>
      {isDeploying && (
        <Deploy
          workspace={workspace}
          path={path}
          isNew={!deployed}
          base={base}
          scriptOver={(newer) => over(newer ?? deployed)}
          deploy={(body) =>
            end(async () => {
              await callOperation("POST /w/{workspace}/scripts/create", { workspace, body });
              props.onDeployed?.();
            })
          }
          close={() => setDeploying(false)}
        />
      )}
    </div>
  );
}

function describe(analysis: ReturnType<typeof useAnalysis>): string {
  if (!analysis) return "Reading the code…";
  const { packages, imports, warning } = analysis;
  return [
    packages.length > 0 && `Packages: ${packages.join(", ")}`,
    imports.length > 0 && `Imports: ${imports.join(", ")}`,
    warning,
  ]
    .filter(Boolean)
    .join(". ");
}
