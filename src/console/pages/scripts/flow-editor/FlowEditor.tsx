import { Alert, Button } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconPlayerPlay } from "@tabler/icons-react";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Job } from "../../../api/interface.d.ts";
import { type Fields, isRecord } from "../../../api/json.ts";
import { type DraftStore, useDraftSaver } from "../../../parts/editor/draft-saver.ts";
import { OtherDrafts } from "../../../parts/editor/OtherDrafts.tsx";
import { SavedElsewhereAlert } from "../../../parts/editor/SavedElsewhereAlert.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import type { Picked, RunModel } from "../../../parts/flow/run-model.ts";
import { buildTree } from "../../../parts/flow/tree.ts";
import { linkTo } from "../../../parts/navigation/places.ts";
import { useUrlParameters } from "../../../parts/navigation/use-url-parameters.ts";
import { Canvas } from "./canvas/Canvas.tsx";
import { focusStep } from "./canvas/canvas-keys.ts";
import { InsertDialog } from "./canvas/InsertDialog.tsx";
import { Toolbar } from "./canvas/Toolbar.tsx";
import { EditorContextProvider } from "./context.ts";
import { Deploy } from "./Deploy.tsx";
import { listProblems } from "./model/check.ts";
import { addSpecialStep, insertSteps } from "./model/commands.ts";
import type { FlowDocument } from "./model/document.ts";
import { findPlacedStep, findSlotAfter, type PlacedStep, type Slot } from "./model/steps.ts";
import { OpenApiDialog } from "./openapi/OpenApiDialog.tsx";
import type { Draft } from "./queries.ts";
import { useDecorations } from "./run/decorate.tsx";
import { ShownRun, TryFlow } from "./run/TryFlow.tsx";
import { useChangedSteps, useRanFlows } from "./run/use-changed.ts";
import { useLatestRun, useRun } from "./run/use-run.ts";
import { FlowPanel } from "./settings/FlowPanel.tsx";
import { type Part, StepPanel } from "./step/StepPanel.tsx";
import { type Edit, useFlowEditor } from "./use-flow-editor.ts";
import { useStableValue } from "./use-stable-value.ts";

interface Props {
  workspace: string;
  above: ReactNode;
  first: FlowDocument;
  /** Undefined for a new flow. */
  deployed: FlowDocument | undefined;
  /** The version that the draft is based on. */
  base: number | undefined;
  hasDraft: boolean;
  otherDrafts: readonly { created_by: string; created_at: string }[];
  store: DraftStore<Draft>;
  discard: (end: (action: () => Promise<void>) => Promise<void>) => void;
  /** Reopens the editor with the stored draft. */
  reopen: () => Promise<unknown>;
}

export function FlowEditor(props: Props) {
  const { workspace, first, deployed, base, discard } = props;
  const { get, set } = useUrlParameters({ push: false });
  const editor = useFlowEditor(first, deployed ?? first, get("step") || undefined);
  const { flow, isDirty, open } = editor;
  const [slot, setSlot] = useState<Slot>();
  const [apiSlot, setApiSlot] = useState<Slot>();
  const [isTrying, setTrying] = useState(false);
  const [isDeploying, setDeploying] = useState(false);
  const panel = useRef<HTMLDivElement>(null);
  const { kept, end, keepMine } = useDraftSaver<Draft>(
    { ...flow, ...(base === undefined ? {} : { parent_version: base }) },
    props.store,
  );

  const [picked, setPicked] = useState<Picked>({});
  const pick = useCallback(
    (loop: string, index: number) => setPicked((before) => ({ ...before, [loop]: index })),
    [],
  );
  const chosen = get("run");
  const latest = useLatestRun(workspace, flow.path, deployed !== undefined && chosen === "");
  const runId = chosen === "none" ? undefined : chosen || latest;
  const { job, model, earlier, version } = useRun(workspace, flow, runId, picked);
  const showStates = chosen !== "" && chosen !== "none";

  const placed = open === undefined ? undefined : findPlacedStep(flow, open);
  const isFailed = showStates && job?.type === "CompletedJob" && job.success === false;
  const failedRun = isFailed && model ? findRestart(flow, job, model, placed) : undefined;

  const problems = useStableValue(useMemo(() => listProblems(flow), [flow]));
  const byKey = useMemo(() => Map.groupBy(problems, ({ key }) => key), [problems]);
  const { ran, note } = useRanFlows();
  const isOfDeployed = version !== undefined && version === base;
  const changed = useChangedSteps(flow, ran.get(runId ?? "") ?? (isOfDeployed ? deployed : undefined));
  const decorate = useDecorations(showStates ? model : undefined, byKey, changed);
  useHotkeys(
    [
      ["mod+S", () => setDeploying(kept !== "elsewhere")],
      ["mod+Enter", () => setTrying(true)],
    ],
    [],
    true,
  );
  useHotkeys([
    ["mod+Z", editor.undo],
    ["mod+shift+Z", editor.redo],
    ["mod+Y", editor.redo],
  ]);
  const [part, setPart] = useState<Part>("runs");
  /** Gets the focus again when the dialog is closed. */
  const opener = useRef<HTMLElement>(null);
  const openSlot = useCallback((at: Slot) => {
    opener.current = document.activeElement as HTMLElement | null;
    setSlot(at);
  }, []);
  useEffect(() => {
    if (slot === undefined) opener.current?.focus();
  }, [slot]);
  /** The panel of the last inserted step: its card gets the focus when it is rendered. */
  const [inserted, setInserted] = useState<number>();
  const insert = (change: Edit) => {
    editor.edit("Insert", change);
    setPart("runs");
    setInserted(editor.panel + 1);
  };
  const insertAt = (at: Slot, step: Fields) => insert((before) => insertSteps(before, at, [step]));
  useEffect(() => {
    if (inserted !== editor.panel || open === undefined) return;
    focusStep(open);
    setInserted(undefined);
  }, [inserted, editor.panel, open]);
  const shared = useMemo(
    () => ({ workspace, editor, run: earlier, pick }),
    [workspace, editor, earlier, pick],
  );
  const [isDraft, setDraft] = useState(props.hasDraft);
  if (kept === "kept" && !isDraft) setDraft(true);
  return (
    <EditorContextProvider value={shared}>
      <div className="page page-wide">
        <PageHead
          title={typeof flow.summary === "string" && flow.summary !== "" ? flow.summary : flow.path}
          above={props.above}
          about={
            <span role="status">
              {kept === "saving" && "Saving the draft…"}
              {kept === "failed" && "The draft could not be saved: do not close this page"}
              {kept !== "saving" &&
                kept !== "failed" &&
                (deployed === undefined
                  ? isDraft
                    ? "Not deployed yet. The draft is saved"
                    : "Not deployed yet"
                  : !isDirty
                    ? "No changes since the last deployment"
                    : isDraft
                      ? "The draft is saved"
                      : "Changed")}
            </span>
          }
        >
          {(isDraft || deployed === undefined) && (
            <Button variant="subtle" onClick={() => discard(end)}>
              Discard the draft
            </Button>
          )}
          <Button
            variant="default"
            leftSection={<IconPlayerPlay size={16} />}
            onClick={() => setTrying(true)}
          >
            Run it
          </Button>
          <Button disabled={kept === "elsewhere"} onClick={() => setDeploying(true)}>
            Deploy
          </Button>
        </PageHead>
        {kept === "elsewhere" && <SavedElsewhereAlert showOther={props.reopen} keepMine={keepMine} />}
        {props.hasDraft && deployed !== undefined && (
          <Alert variant="light" color="yellow" mb="md">
            This is your saved draft. It differs from the deployed version.
          </Alert>
        )}
        <OtherDrafts
          drafts={props.otherDrafts}
          review={(username) => linkTo.review(workspace, flow.path, username)}
        />
        <div className="flow-editor">
          <section className="panel" aria-label="Diagram">
            <Toolbar editor={editor} insertAt={openSlot} />
            {showStates && job && (
              <ShownRun workspace={workspace} job={job} hide={() => set({ run: "none" })} />
            )}
            {placed && (
              <Button
                variant="subtle"
                className="flow-editor-jump"
                onClick={() => panel.current?.scrollIntoView({ block: "start" })}
              >
                Details of {placed.id}
              </Button>
            )}
            <Canvas editor={editor} insertAt={openSlot} decorate={decorate} />
          </section>
          <div className="flow-editor-panel" ref={panel}>
            {placed ? (
              <StepPanel
                placed={placed}
                problems={byKey.get(placed.key) ?? []}
                part={part}
                setPart={setPart}
              />
            ) : (
              <FlowPanel />
            )}
          </div>
        </div>
        {slot && (
          <InsertDialog
            workspace={workspace}
            path={flow.path}
            insert={(step) => insertAt(slot, step)}
            apart={(["failure", "preprocessor"] as const).filter(
              (which) => !isRecord(flow.value[`${which}_module`]),
            )}
            addSpecialStep={(which) => insert((before) => addSpecialStep(before, which))}
            fromApi={() => setApiSlot(slot)}
            close={() => setSlot(undefined)}
          />
        )}
        {apiSlot && (
          <OpenApiDialog insert={(step) => insertAt(apiSlot, step)} close={() => setApiSlot(undefined)} />
        )}
        {isTrying && (
          <TryFlow
            workspace={workspace}
            flow={flow}
            placed={placed}
            input={earlier?.input}
            earlier={job}
            started={(id) => {
              note(id, flow);
              set({ run: id });
            }}
            close={() => setTrying(false)}
          />
        )}
        {isDeploying && (
          <Deploy
            workspace={workspace}
            flow={flow}
            deployed={deployed}
            base={base}
            problems={problems}
            failed={failedRun}
            end={(action) =>
              end(async () => {
                await action();
                editor.markSaved(flow);
              })
            }
            close={() => setDeploying(false)}
          />
        )}
      </div>
    </EditorContextProvider>
  );
}

/** Finds the step to restart a failed run from: the selected one if the run reached it, otherwise the failed one. */
function findRestart(flow: FlowDocument, job: Job, model: RunModel, placed: PlacedStep | undefined) {
  const culprit = findPlacedStep(flow, model.culpritOf(buildTree(flow.value).nodes) ?? "");
  for (const wanted of [placed, culprit]) {
    const outermost = wanted && findPlacedStep(flow, wanted.around[0] ?? wanted.key);
    if (outermost && findSlotAfter(outermost) && model.seen.has(outermost.id))
      return { job, step: outermost.id };
  }
  return undefined;
}
