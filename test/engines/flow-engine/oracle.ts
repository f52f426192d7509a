/**
 * Reference implementation for the property test: runs a random flow step by step, without events or state.
 * `World` decides conditions and outcomes.
 */
import type { FlowModule, FlowModuleValue, StopCondition } from "../../../src/engines/flow-engine/types.ts";

export interface World {
  /** Returns the outcome of a leaf. */
  leaf(label: string, tries: string): "success" | "failure" | "canceled";
  approval(label: string, tries: string): "approved" | "disapproved" | "late";
  /** @param path indices of the iterations around it. @throws ReferenceError */
  holds(expr: string, path: number[]): boolean;
}

/**
 * The end of a module, or of a list of them. A `final` failure is not retried or continued after; a `canceled`
 * one is final for all retries around it. A failure in several parts has a list as its result, not only the
 * error.
 */
type Ended =
  | { is: "success" | "skipped"; value: unknown; stopped?: boolean }
  | { is: "failure"; error: unknown; result?: unknown; final?: boolean; canceled?: boolean };

/** Position of a list of modules: the indices of the iterations around it, and their attempt numbers. */
interface Place {
  path: number[];
  tries: string;
}

export class Oracle {
  #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  flow(modules: FlowModule[], failure?: FlowModule): { status: string; result: unknown } {
    const ended = this.#list(modules, { path: [], tries: "" }, undefined);
    if (ended.is !== "failure") return { status: ended.is, result: ended.value };
    if (!failure) return { status: "failure", result: resultOf(ended) };
    const handled = this.#leaf(failure, { path: [], tries: ".0" });
    return { status: "failure", result: handled.is === "failure" ? handled.error : handled.value };
  }

  /** @param before the previous result; undefined: the input */
  #list(modules: FlowModule[], place: Place, before: unknown): Ended {
    let last = before;
    for (const module of modules) {
      const ended = this.#module(module, place, last);
      if (ended.is === "failure" || ended.stopped) return ended;
      if (ended.is === "skipped") continue;
      last = ended.value;
    }
    return { is: "success", value: last ?? null };
  }

  /** `skipped` without `stopped`: by its own `skip_if`. */
  #module(module: FlowModule, place: Place, before: unknown): Ended {
    const given = this.#tries(module, place, before);
    const ended = given.is === "success" && !given.stopped ? this.#after(module, place, given.value) : given;
    if (ended.is !== "failure" || !module.continue_on_error || ended.final) return ended;
    return { is: "success", value: resultOf(ended) };
  }

  #tries(module: FlowModule, place: Place, before: unknown): Ended {
    const attempts = module.retry?.constant?.attempts ?? 0;
    for (let tried = 0; ; tried++) {
      const here = { ...place, tries: `${place.tries}.${tried}` };
      const ended = this.#caught(module, () => {
        if (module.skip_if && this.#holds("skip_if", module.skip_if.expr, place)) {
          return { is: "skipped", value: null };
        }
        return this.#body(module, here, before);
      });
      if (ended.is !== "failure") return ended;
      // Final applies to retries only: the error may still become the result.
      if (ended.final || tried >= attempts) return { ...ended, final: false };
    }
  }

  /** Continues after the module has a result. */
  #after(module: FlowModule, place: Place, value: unknown): Ended {
    return this.#caught(module, () => {
      const { stop_after_if, stop_after_all_iters_if, suspend } = module;
      const isMany = ["forloopflow", "whileloopflow", "branchall"].includes(module.value.type);
      const stops: [string, StopCondition | undefined][] = [
        ["stop_after_if", isSequentialLoop(module.value) ? undefined : stop_after_if],
        ["stop_after_all_iters_if", isMany ? stop_after_all_iters_if : undefined],
      ];
      for (const [field, stop] of stops) {
        if (!stop || !this.#holds(field, stop.expr, place)) continue;
        if (stop.skip_if_stopped) return { is: "skipped", value, stopped: true };
        if (stop.error_message) {
          return { is: "failure", error: errorOf("StoppedEarly", stop.error_message, module), final: true };
        }
        return { is: "success", value, stopped: true };
      }
      if (!suspend) return { is: "success", value };
      const approval = this.#world.approval(labelOf(module, place), place.tries);
      if (approval === "approved" || suspend.continue_on_disapprove_timeout) return { is: "success", value };
      const [name, why] =
        approval === "late"
          ? ["ApprovalTimeout", "the time to approve has passed"]
          : ["Disapproved", "disapproved by ann"];
      const message = `step ${module.id} waited for approval: ${why}`;
      return { is: "failure", error: errorOf(name!, message, module), final: true };
    });
  }

  #body(module: FlowModule, place: Place, before: unknown): Ended {
    const { value, mock } = module;
    if (mock?.enabled) return { is: "success", value: mock.return_value };
    switch (value.type) {
      case "forloopflow":
      case "whileloopflow":
        return this.#loop(module, value, place);
      case "branchone": {
        const chosen = value.branches.find(({ expr }, index) =>
          this.#holds(`condition of branch ${index}`, expr, place),
        );
        return notFinal(this.#list(chosen?.modules ?? value.default, place, before));
      }
      case "branchall": {
        const ended: Ended[] = [];
        for (const { modules, skip_failure } of value.branches) {
          const one = notFinal(this.#list(modules, place, before));
          ended.push(one);
          const isLast = one.is === "failure" ? !skip_failure : one.stopped;
          if (isLast && !value.parallel) break;
        }
        const all = together(ended, (index) => value.branches[index]?.skip_failure ?? false, resultOf);
        const stopped = ended.find((one) => one.is !== "failure" && one.stopped);
        return all.is === "success" && stopped ? { ...all, is: stopped.is as "success", stopped: true } : all;
      }
      default:
        return this.#leaf(module, place);
    }
  }

  #leaf(module: FlowModule, place: Place): Ended {
    const { value } = module;
    if ("input_transforms" in value) {
      for (const [name, transform] of Object.entries(value.input_transforms)) {
        if (transform.type === "javascript") this.#holds(`input ${name}`, transform.expr, place);
      }
    }
    const label = labelOf(module, place);
    const outcome = this.#world.leaf(label, place.tries);
    if (outcome === "success") return { is: "success", value: label };
    const error = errorOf("Error", `${label} ${outcome}`, module);
    return outcome === "canceled"
      ? { is: "failure", error, final: true, canceled: true }
      : { is: "failure", error };
  }

  #loop(module: FlowModule, value: Extract<FlowModuleValue, { modules: FlowModule[] }>, place: Place): Ended {
    const total = value.type === "forloopflow" ? (value.iterator as { value: unknown[] }).value.length : 1e6;
    const iteration = (index: number): Ended =>
      notFinal(this.#list(value.modules, { ...place, path: [...place.path, index] }, undefined));
    const skips = () => value.skip_failures;
    if (!isSequentialLoop(value))
      return together(
        Array.from({ length: total }, (_, i) => iteration(i)),
        skips,
      );
    // Without modules, no expression is evaluated either.
    if (value.modules.length === 0) return { is: "success", value: Array(total).fill(null) };
    const all: Ended[] = [];
    for (let index = 0; index < total; index++) {
      const ended = iteration(index);
      all.push(ended);
      if (ended.is === "failure" && !value.skip_failures) break;
      if (ended.is !== "failure" && ended.stopped) break;
      const stop = module.stop_after_if;
      const leaves = stop && this.#caught(module, () => this.#leaves(module, stop, place));
      if (leaves?.is === "failure") return { ...leaves, final: true };
      if (leaves?.is === "skipped") break;
    }
    return together(all, skips);
  }

  #leaves(module: FlowModule, stop: StopCondition, place: Place): Ended {
    if (!this.#holds("stop_after_if", stop.expr, place)) return { is: "success", value: null };
    if (stop.skip_if_stopped || !stop.error_message) return { is: "skipped", value: null };
    return { is: "failure", error: errorOf("StoppedEarly", stop.error_message, module) };
  }

  #holds(field: string, expr: string, { path }: Place): boolean {
    try {
      return this.#world.holds(expr, path);
    } catch (cause) {
      throw Object.assign(new Error(`${field}: ${(cause as Error).message}`), { name: "ReferenceError" });
    }
  }

  #caught(module: FlowModule, work: () => Ended): Ended {
    try {
      return work();
    } catch (cause) {
      const { name, message } = cause as Error;
      return { is: "failure", error: errorOf(name, message, module) };
    }
  }
}

/** Combines all results; a failure that is not skipped fails the whole. */
function together(
  ended: Ended[],
  skips: (index: number) => boolean,
  ofSkipped = (_: Failure): unknown => null,
): Ended {
  const failures = ended.filter((each, index) => each.is === "failure" && !skips(index)) as Failure[];
  const list = ended.map((each, index) => {
    if (each.is !== "failure") return each.value;
    return skips(index) ? ofSkipped(each) : resultOf(each);
  });
  const [first] = failures;
  if (!first) return { is: "success", value: list };
  const canceled = failures.some((each) => each.canceled);
  return { is: "failure", error: first.error, result: list, final: canceled, canceled };
}

type Failure = Extract<Ended, { is: "failure" }>;

function resultOf({ error, result }: Failure): unknown {
  return result ?? error;
}

/** For what is around it, a failed nested list is a job that failed or was canceled. */
function notFinal(ended: Ended): Ended {
  if (ended.is !== "failure") return ended;
  return { ...ended, final: ended.canceled ?? false };
}

function isSequentialLoop(value: FlowModuleValue): boolean {
  return value.type === "whileloopflow" || (value.type === "forloopflow" && !value.parallel);
}

function labelOf({ id }: FlowModule, { path }: Place): string {
  return path.length > 0 ? `${id}@${path.join(".")}` : id;
}

function errorOf(name: string, message: string, { id }: FlowModule): unknown {
  return { error: { name, message, step_id: id } };
}
