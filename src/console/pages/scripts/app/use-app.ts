/** State of an open app: user input, and results of its components. */
import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState } from "react";
import { callOperation, type Input } from "../../../api/call.ts";
import { computeInput, NotEvaluated, type Scope } from "./evaluate.ts";
import { type AppComponent, type AppRunnable, findRunnable, isTable } from "./read-app.ts";

const POLL_MS = 400;
/** The page does not wait longer than this for a run. */
const MAX_WAIT_MS = 15 * 60_000;

export interface Output {
  result?: unknown;
  values?: unknown;
  /** Of a table; an empty object if there are no rows. */
  selectedRow?: unknown;
  selectedRows?: unknown[];
  selectedRowIndex?: number;
  /** Of a table whose rows are read page by page, from 0. */
  page?: number;
  loading?: boolean;
  error?: string;
}

export interface OpenApp {
  workspace: string;
  path: string;
  /** Values that expressions can refer to, by component id. */
  scope: Scope;
  outputs: Readonly<Record<string, Output>>;
  set: (id: string, output: Output) => void;
  /**
   * Runs the script or flow of a component.
   * @param typed arguments entered in the component itself
   * @param names further values that its expressions can refer to
   */
  run: (component: AppComponent, typed?: Record<string, unknown>, names?: Scope) => Promise<void>;
}

const Context = createContext<OpenApp | undefined>(undefined);
export const AppProvider = Context.Provider;

/** Returns the state of the open app around this component. @throws outside of an app */
export function useApp(): OpenApp {
  const app = useContext(Context);
  if (!app) throw new Error("This component must be inside an app");
  return app;
}

type Execution = Input<"POST /w/{workspace}/apps_u/execute_component/{path}">["body"];

interface AppPlace {
  workspace: string;
  path: string;
  /** Facts about the user, for expressions. */
  viewer: { email: string; username: string };
}

export function useOpenApp({ workspace, path, viewer }: AppPlace, components: AppComponent[]): OpenApp {
  const [outputs, setOutputs] = useState(() => createInitialOutputs(components));
  const scope = useMemo(
    (): Scope => ({ state: {}, ...outputs, ctx: { ...viewer, workspace } }),
    [outputs, viewer, workspace],
  );
  const now = useRef(scope);
  now.current = scope;
  const set = useCallback(
    (id: string, output: Output) =>
      setOutputs((before) => ({ ...before, [id]: { ...before[id], ...output } })),
    [],
  );
  const newest = useRef(new Map<string, number>());
  const run = useCallback(
    async (
      component: AppComponent,
      typed: Record<string, unknown> = {},
      names: Scope = {},
      isAgain = false,
    ): Promise<void> => {
      const runnable = findRunnable(component);
      if (!runnable) return;
      const { id } = component;
      const turn = (newest.current.get(id) ?? 0) + 1;
      newest.current.set(id, turn);
      set(id, { loading: true });
      const outcome = await execute(workspace, path, id, runnable, {
        ...computeArguments(runnable, { ...now.current, ...names }),
        ...typed,
      }).catch((error: Error): Output => ({ error: error.message }));
      // The result of a run that was started later takes precedence.
      if (newest.current.get(id) !== turn) return;
      set(id, { result: undefined, ...outcome, loading: false, error: outcome.error ?? "" });
      if (outcome.error) return;
      const all = listAllComponents(components);
      // Runs caused by another run cause no further ones: components may name each other.
      for (const other of isAgain ? [] : component.recomputes) {
        const found = all.find((each) => each.id === other);
        if (found) void run(found, {}, {}, true);
      }
    },
    [workspace, path, set, components],
  );
  useAutomaticRuns(components, scope, run);
  return useMemo(
    () => ({ workspace, path, scope, outputs, set, run }),
    [workspace, path, scope, outputs, set, run],
  );
}

/** Returns the values of tables that expressions may read before there are rows. */
const createInitialOutputs = (components: AppComponent[]): Record<string, Output> =>
  Object.fromEntries(
    listAllComponents(components)
      .filter(isTable)
      .map(({ id }) => [id, { selectedRow: {}, selectedRows: [], selectedRowIndex: 0, page: 0 }]),
  );

/** Runs automatic components: when the page opens, and when their inputs change. */
function useAutomaticRuns(components: AppComponent[], scope: Scope, run: OpenApp["run"]): void {
  const begun = useRef(new Map<string, string>());
  useEffect(() => {
    for (const component of listAllComponents(components)) {
      const runnable = findRunnable(component);
      if (!runnable?.isAutomatic || runnable.code?.language === "frontend") continue;
      let args: string;
      try {
        args = JSON.stringify(computeArguments(runnable, scope));
      } catch (error) {
        args = `not evaluated: ${(error as Error).message}`;
      }
      if (begun.current.get(component.id) === args) continue;
      begun.current.set(component.id, args);
      void run(component);
    }
  }, [components, scope, run]);
}

export const listAllComponents = (components: AppComponent[]): AppComponent[] =>
  components.flatMap((each) => [
    each,
    ...each.children.flatMap((child) => listAllComponents(child.components)),
  ]);

/** Computes the arguments of a component's script or flow. @throws Error naming an argument that cannot be evaluated */
function computeArguments({ fields }: AppRunnable, scope: Scope): Record<string, unknown> {
  const args: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (field.type === "user") continue;
    try {
      const value = computeInput(field, scope);
      if (value !== undefined) args[name] = value;
    } catch (error) {
      if (!(error instanceof NotEvaluated)) throw error;
      throw new Error(`Its input ${name} is computed by code that this page does not run: ${error.message}`);
    }
  }
  return args;
}

async function execute(
  workspace: string,
  path: string,
  component: string,
  { path: runnable, code }: AppRunnable,
  args: Record<string, unknown>,
): Promise<Output> {
  if (code?.language === "frontend")
    return { error: "It runs code in the browser, which this page does not do." };
  const body = { component, args, ...(code ? { raw_code: code } : { path: runnable! }) } as Execution;
  const id = (
    await callOperation("POST /w/{workspace}/apps_u/execute_component/{path}", { workspace, path, body })
  ).trim();
  for (const until = Date.now() + MAX_WAIT_MS; Date.now() < until; ) {
    const { completed, result, success } = await callOperation(
      "GET /w/{workspace}/jobs_u/completed/get_result_maybe/{id}",
      {
        workspace,
        id,
      },
    );
    if (completed && success) return { result };
    if (completed) return { error: messageOf(result) };
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return { error: "It takes longer than this page waits. The result will be listed under Runs." };
}

function messageOf(result: unknown): string {
  const { error } = (result ?? {}) as { error?: { message?: unknown } };
  return typeof error?.message === "string" ? error.message : "It failed.";
}
