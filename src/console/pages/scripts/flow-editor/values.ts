/** Values of expressions: results of an earlier run, and expressions evaluated with them. */
import { keepPreviousData, queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { callOperation } from "../../../api/call.ts";
import { type Fields, isRecord } from "../../../api/json.ts";
import { runQuery } from "../../../api/runs.ts";
import { useDebounced } from "../../../parts/editor/debounce.ts";
import { type EarlierRun, useEditorContext } from "./context.ts";
import { listMentionedSteps } from "./model/expressions.ts";
import { identifyValue } from "./model/identify.ts";
import { type KnownName, listKnownNames } from "./model/known.ts";
import { isLoop, listSteps } from "./model/steps.ts";

/** Maximum number of results in the list of names; others are loaded when an expression uses them. */
const SHOWN_RESULTS = 12;

/** Loads the result of a completed job, which never changes. */
export const jobResultQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "result", id],
    queryFn: ({ signal }): Promise<unknown> =>
      callOperation("GET /w/{workspace}/jobs_u/completed/get_result/{id}", { workspace, id }, signal),
    staleTime: "static",
  });

/** Loads the combined result of a loop or of parallel branches in a run. */
export const combinedResultQuery = (workspace: string, flow_job_id: string, node_id: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "result", `${flow_job_id} ${node_id}`],
    queryFn: ({ signal }): Promise<unknown> =>
      callOperation(
        "GET /w/{workspace}/jobs/result_by_id/{flow_job_id}/{node_id}",
        { workspace, flow_job_id, node_id },
        signal,
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Returns the results of steps in the run, and pinned results, by id. */
function useResults(
  workspace: string,
  run: EarlierRun | undefined,
  ids: string[],
  mocks: Map<string, unknown>,
) {
  const asked = ids.filter(
    (id) => !mocks.has(id) && (run?.gathered.has(id) || run?.jobs.get(id)?.type === "CompletedJob"),
  );
  const found = useQueries({
    queries: asked.map((id) => {
      const job = run!.jobs.get(id);
      return {
        ...(job ? jobResultQuery(workspace, job.id) : combinedResultQuery(workspace, run!.id, id)),
        retry: false,
      };
    }),
    combine: (answers) => answers.map(({ data }) => data),
  });
  const key = asked.join("\n");
  return useMemo(() => {
    const results = new Map(mocks);
    for (const [index, id] of key.split("\n").entries()) {
      if (found[index] !== undefined) results.set(id, found[index]);
    }
    return results;
  }, [key, found, mocks]);
}

/** Returns the names that a step's expression can use, with values from the earlier run. */
export function useKnownNames(key: string): KnownName[] {
  const { workspace, editor, run } = useEditorContext();
  const { flow } = editor;
  const mocks = useMocks();
  const names = useMemo(() => listKnownNames(flow, key, { results: new Map() }), [flow, key]);
  const near = names.flatMap(({ step, expression }) =>
    step && expression !== "previous_result" ? [step] : [],
  );
  const results = useResults(workspace, run, near.slice(0, SHOWN_RESULTS), mocks);
  return useMemo(
    () => listKnownNames(flow, key, { input: run?.input, results }),
    [flow, key, run?.input, results],
  );
}

function useMocks(): Map<string, unknown> {
  const { flow } = useEditorContext().editor;
  return useMemo(
    () =>
      new Map(
        listSteps(flow).flatMap(({ id, step: { mock } }) =>
          isRecord(mock) && mock.enabled === true ? [[id, mock.return_value ?? null] as const] : [],
        ),
      ),
    [flow],
  );
}

/** The values for evaluating an expression, and a key that identifies them. */
export interface Scope {
  values: Fields;
  /** Identifies the values without containing them, since results may be large. */
  key: string;
}

/** Returns the values of the names in an expression, as far as the earlier run has them; undefined without a run. */
export function useExpressionScope(key: string, expression: string): Scope | undefined {
  const { workspace, editor, run } = useEditorContext();
  const { flow } = editor;
  const mocks = useMocks();
  const { ids, previous, loops } = useMemo(() => {
    const steps = listSteps(flow);
    const placed = steps.find((each) => each.key === key);
    const loops = steps.filter((each) => placed?.around.includes(each.key) && isLoop(each.step));
    return {
      previous: listKnownNames(flow, key, { results: new Map() }).find(
        (name) => name.expression === "previous_result",
      )?.step,
      ids: listMentionedSteps(expression).map(({ id }) => id),
      loops: loops.map(({ id, step }) => ({ id, iterator: (step.value as Fields).iterator })),
    };
  }, [flow, key, expression]);
  // A surrounding loop may read the result of the previous step.
  const isPreviousRead = loops.length > 0 || /\b(previous_)?result\b/.test(expression);
  const wanted = [...new Set([...ids, ...(previous && isPreviousRead ? [previous] : [])])].sort();
  const results = useResults(workspace, run, wanted, mocks);
  const input = run?.input;
  const names = wanted.join("\n");
  const scope = useMemo((): Scope | undefined => {
    if (!run && mocks.size === 0) return undefined;
    const known = names.split("\n").filter((id) => results.has(id));
    const last = previous !== undefined && known.includes(previous) ? previous : undefined;
    const values = {
      flow_input: input ?? {},
      results: Object.fromEntries(known.map((id) => [id, results.get(id)])),
      ...(last === undefined ? {} : { previous_result: results.get(last), result: results.get(last) }),
    };
    const told = known.map((id) => [id, identifyValue(results.get(id))]);
    return { values, key: JSON.stringify([run?.id, identifyValue(input), told, last]) };
  }, [run, mocks, input, results, previous, names]);
  return useIteration(scope, loops);
}

interface Loop {
  id: string;
  iterator: unknown;
}

/** Adds the values of the surrounding loops to the scope, outermost first: the item of each selected iteration. */
function useIteration(scope: Scope | undefined, loops: Loop[]): Scope | undefined {
  const { workspace, run } = useEditorContext();
  const chosen = loops.map(({ id }) => {
    const found = run?.loops.get(id);
    return { index: found?.picked ?? 0, job: found?.iterations.find(({ index }) => index === found.picked) };
  });
  // For an iteration of several steps, its job contains the item; for a single step, its job contains the step's own
  // inputs.
  const noted = useQueries({
    queries: chosen.map(({ job }) => ({
      ...runQuery(workspace, job?.id ?? ""),
      enabled: job?.job_kind === "flownode",
    })),
    combine: (answers) =>
      answers.map(({ data }) =>
        isRecord(data?.args) && isRecord(data.args.iter) ? data.args.iter : undefined,
      ),
  });
  const around = noted.at(-2);
  const outer = useMemo(() => within(scope, around), [scope, around]);
  const { iterator } = loops.at(-1) ?? {};
  const own = noted.at(-1);
  const list = useEvaluatedExpression(
    !own && isRecord(iterator) && typeof iterator.expr === "string" ? iterator.expr : "",
    loops.length > 0 ? outer : undefined,
  ).data?.value;
  const index = chosen.at(-1)?.index ?? 0;
  return useMemo(() => {
    if (loops.length === 0) return scope;
    const items: unknown = isRecord(iterator) && iterator.type !== "javascript" ? iterator.value : list;
    // The loop's list is not evaluated yet.
    if (!own && iterator !== undefined && items === undefined) return undefined;
    // A loop without a list counts.
    const value = iterator === undefined ? index : Array.isArray(items) ? (items[index] ?? null) : null;
    return within(scope, own ?? { index, value, ...(around ? { iter: around } : {}) });
  }, [scope, loops.length, own, around, iterator, list, index]);
}

function within(scope: Scope | undefined, iter: Fields | undefined): Scope | undefined {
  if (!scope || !iter) return scope;
  const flow_input = { ...(scope.values.flow_input as Fields), iter };
  const key = `${scope.key} ${String(iter.index)} ${identifyValue(iter.value)}`;
  return { values: { ...scope.values, flow_input }, key };
}

/** Checks an expression while the user types, and evaluates it if the values are known. */
export function useEvaluatedExpression(expression: string, scope: Scope | undefined) {
  const { workspace } = useEditorContext();
  const expr = useDebounced(expression, 300);
  return useQuery({
    queryKey: [workspace, "flows", "evaluation", expr, scope?.key],
    queryFn: ({ signal }) =>
      callOperation(
        "POST /w/{workspace}/flows/expressions/evaluate",
        { workspace, body: { expr, ...(scope ? { scope: scope.values } : {}) } },
        signal,
      ),
    enabled: expr.trim() !== "",
    placeholderData: keepPreviousData,
    gcTime: 10_000,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
