/** Saves drafts: one save after another, the newest content last, and none during a deployment. */
import { useEffect, useState } from "react";
import { writeJson } from "../../api/json.ts";

const SAVE_AFTER_MS = 1_500;
/** Delay before a failed save is retried; it grows with each failure. */
const RETRY_AFTER_MS = 2_000;
const LONGEST_RETRY_MS = 60_000;

type Kept = "" | "saving" | "kept" | "failed";
type Keep<T> = (draft: T) => Promise<void>;

/** Saves the newest draft until it is stored. */
export class DraftSaver<T> {
  #kept: string;
  #newest: T;
  #keep: Keep<T>;
  #tell: (kept: Kept) => void;
  #saving: Promise<void> | undefined;
  #isHeld = false;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  readonly #retryAfter: number;

  constructor(draft: T, keep: Keep<T>, tell: (kept: Kept) => void, retryAfter = RETRY_AFTER_MS) {
    this.#kept = writeJson(draft);
    this.#newest = draft;
    this.#keep = keep;
    this.#tell = tell;
    this.#retryAfter = retryAfter;
  }

  /** Whether closing the page would lose changes. */
  get isBehind(): boolean {
    return writeJson(this.#newest) !== this.#kept;
  }

  take(draft: T, keep: Keep<T>): void {
    this.#newest = draft;
    this.#keep = keep;
  }

  readonly save = (): Promise<void> => {
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  };

  async #saveAll(): Promise<void> {
    clearTimeout(this.#retry);
    while (this.isBehind && !this.#isHeld) {
      const draft = this.#newest;
      this.#tell("saving");
      try {
        await this.#keep(draft);
      } catch {
        return this.#fail();
      }
      this.#failures = 0;
      this.#kept = writeJson(draft);
      this.#tell("kept");
    }
  }

  #fail(): void {
    this.#tell("failed");
    const pause = Math.min(this.#retryAfter * 2 ** this.#failures++, LONGEST_RETRY_MS);
    this.#retry = setTimeout(this.save, pause);
  }

  /** Stops saving automatically. */
  stop(): void {
    clearTimeout(this.#retry);
  }

  /** Runs the action that ends the draft. Nothing is saved in the meantime, and afterwards only if it failed. */
  readonly end = async (action: () => Promise<void>): Promise<void> => {
    this.#isHeld = true;
    this.stop();
    try {
      await this.#saving;
      await action();
      this.#kept = writeJson(this.#newest);
    } catch (error) {
      this.#isHeld = false;
      void this.save();
      throw error;
    }
  };
}

/** Saves a draft after a pause in typing, and when the page is left. */
export function useDraftSaver<T>(draft: T, keep: Keep<T>) {
  const [kept, setKept] = useState<Kept>("");
  const [keeper] = useState(() => new DraftSaver<T>(draft, keep, setKept));
  const text = writeJson(draft);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the draft is a new object each time, its text is not
  useEffect(() => {
    keeper.take(draft, keep);
    // The current text is not saved yet, whatever was saved before.
    if (keeper.isBehind) setKept((before) => (before === "failed" ? before : "saving"));
    const timer = setTimeout(keeper.save, SAVE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [keeper, text, keep]);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (keeper.isBehind) event.preventDefault();
    };
    window.addEventListener("beforeunload", warn);
    window.addEventListener("online", keeper.save);
    return () => {
      window.removeEventListener("beforeunload", warn);
      window.removeEventListener("online", keeper.save);
      void keeper.save().then(() => keeper.stop());
    };
  }, [keeper]);
  return { kept, end: keeper.end };
}
