import { Button, Text } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Script } from "../../../api/interface.d.ts";
import { Code } from "../../../parts/editor/lazy.tsx";
import { PageHead } from "../../../parts/PageHead.tsx";
import { type NewScript, toNewScript } from "../../../parts/scripts.ts";
import { Deploy } from "./Deploy.tsx";
import { mergeSchema } from "./merge-schema.ts";
import { type Draft, useAnalysis, useQuiet } from "./queries.ts";
import { TestRun } from "./TestRun.tsx";

const SAVE_AFTER_MS = 1_500;

interface Props {
  workspace: string;
  path: string;
  title: string;
  above: ReactNode;
  /** Between the head and the code. */
  children?: ReactNode;
  initial: Draft;
  deployed?: Script;
  /** Keeps what was written. */
  keep: (draft: Draft) => Promise<void>;
  /** Throws away what was kept. */
  discard?: () => void;
  onDeployed?: () => void;
}

/** Editor with a test run beside it. What is written is kept as a draft until it is deployed. */
export function ScriptEditor(props: Props) {
  const { workspace, path, deployed, initial, keep } = props;
  const { language, summary } = initial;
  const [first] = useState(initial.content);
  const [content, setContent] = useState(first);
  const [isDeploying, setDeploying] = useState(false);
  const [saved, setSaved] = useState<"" | "saving" | "kept" | "failed">("");
  const analysis = useAnalysis(workspace, language, content);
  const quiet = useQuiet(content, SAVE_AFTER_MS);
  const kept = useRef(first);
  useEffect(() => {
    if (quiet === kept.current) return;
    setSaved("saving");
    keep({ content: quiet, language, summary }).then(
      () => {
        kept.current = quiet;
        setSaved("kept");
      },
      () => setSaved("failed"),
    );
  }, [quiet, keep, language, summary]);
  // What was typed in the last second would be lost with the page.
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (content !== kept.current) event.preventDefault();
    };
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [content]);
  const isDeployable = path !== "" && analysis !== undefined && !analysis.problem;
  const open = () => isDeployable && setDeploying(true);
  useHotkeys([["mod+S", open]], []);
  const schema = mergeSchema(deployed?.schema, analysis?.schema);
  const script: NewScript = deployed
    ? { ...toNewScript(deployed), content, schema }
    : { path, content, language, summary, description: "", schema };
  const problem = analysis?.problem;
  return (
    <div className="page page-wide">
      <PageHead
        title={props.title}
        above={props.above}
        about={
          <span role="status">
            {saved === "saving" && "Keeping the draft…"}
            {saved === "kept" && "The draft is kept"}
            {saved === "failed" && "The draft could not be kept: do not close this page"}
          </span>
        }
      >
        {props.discard && (
          <Button variant="subtle" onClick={props.discard}>
            Discard the draft
          </Button>
        )}
        <Button disabled={!isDeployable} onClick={open}>
          Deploy
        </Button>
      </PageHead>
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
          script={script}
          {...(deployed ? { base: deployed.hash } : {})}
          close={() => setDeploying(false)}
          onDeployed={() => {
            kept.current = content;
            props.onDeployed?.();
          }}
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
