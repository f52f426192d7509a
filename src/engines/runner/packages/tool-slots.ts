/** Limits how many compilers and package clients run at once: each takes a core, and none may keep others waiting. */
import { createFairSlots } from "../../../lib/async/fair-slots.ts";

export type ToolKind = "compiler" | "package_client";

export interface ToolSlots {
  /**
   * Runs the work as soon as a slot is free.
   * @param owner workspace that it is done for
   * @returns undefined if the signal aborted first
   */
  run<T>(
    kind: ToolKind,
    owner: string,
    work: () => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T | undefined>;
}

/** Most compilations and resolutions take less; longer ones mostly wait for a network or compile many packages. */
const SLOW_AFTER_MS = 10_000;
/** Slow ones continue beside the others, up to this multiple of the limit. */
const SLOW_FACTOR = 3;
/** A package client waits for its index more than it computes. */
const CLIENTS_PER_COMPILER = 2;

/**
 * Creates the slots of compilers and package clients.
 * @param compilers number of compilers that run at once, if they are not slow
 */
export function createToolSlots(compilers: number): ToolSlots {
  const createSlots = (limit: number) =>
    createFairSlots({ limit, slow_after_ms: SLOW_AFTER_MS, max: SLOW_FACTOR * limit });
  const slots = {
    compiler: createSlots(compilers),
    package_client: createSlots(CLIENTS_PER_COMPILER * compilers),
  };
  return {
    async run(kind, owner, work, signal) {
      const release = await slots[kind].acquire(owner, signal);
      if (!release) return undefined;
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
