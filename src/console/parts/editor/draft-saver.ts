/** Saves drafts: one save after another, the newest content last, and none during a deployment. */
import { useEffect, useState } from "react";
import { writeJson } from "../../api/json.ts";

const SAVE_AFTER_MS = 1_500;
/** Delay before a failed save is retried; it grows with each failure. */
const RETRY_AFTER_MS = 2_000;
const LONGEST_RETRY_MS = 60_000;

/** `elsewhere`: saving has stopped, because another tab or browser saved the draft too. */
export type DraftStatus = "" | "saving" | "kept" | "failed" | "elsewhere";

/** The draft was saved, deployed or discarded in another tab or browser of the user. */
export class SavedElsewhere extends Error {
  constructor() {
    super("Your draft was saved, deployed or discarded in another tab or browser meanwhile.");
  }
}

export interface DraftStore<T> {
  /** Stores the draft. @throws SavedElsewhere */
  save: (draft: T) => Promise<void>;
  /** Checks that the stored draft is the one that this editor knows. @throws SavedElsewhere */
  check?: () => Promise<void>;
  /** Lets the next save replace what was saved elsewhere. */
  takeOver?: () => Promise<void>;
}

/** Saves the newest draft until it is stored. */
export class DraftSaver<T> {
  #kept: string | undefined;
  #newest: T;
  #store: DraftStore<T>;
  #tell: (kept: DraftStatus) => void;
  #saving: Promise<void> | undefined;
  #isHeld = false;
  #isElsewhere = false;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  readonly #retryAfter: number;

  constructor(
    draft: T,
    store: DraftStore<T>,
    tell: (kept: DraftStatus) => void,
    retryAfter = RETRY_AFTER_MS,
  ) {
    this.#kept = writeJson(draft);
    this.#newest = draft;
    this.#store = store;
    this.#tell = tell;
    this.#retryAfter = retryAfter;
  }

  /** Whether closing the page would lose changes. */
  get isBehind(): boolean {
    return writeJson(this.#newest) !== this.#kept;
  }

  take(draft: T, store: DraftStore<T>): void {
    this.#newest = draft;
    this.#store = store;
  }

  readonly save = (): Promise<void> => {
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  };

  async #saveAll(): Promise<void> {
    clearTimeout(this.#retry);
    while (this.isBehind && !this.#isHeld && !this.#isElsewhere) {
      const draft = this.#newest;
      this.#tell("saving");
      try {
        await this.#store.save(draft);
      } catch (error) {
        if (error instanceof SavedElsewhere) this.#stopForOther();
        else this.#retryLater();
        return;
      }
      this.#failures = 0;
      this.#kept = writeJson(draft);
      this.#tell("kept");
    }
  }

  #retryLater(): void {
    this.#tell("failed");
    const pause = Math.min(this.#retryAfter * 2 ** this.#failures++, LONGEST_RETRY_MS);
    this.#retry = setTimeout(this.save, pause);
  }

  #stopForOther(): void {
    this.#isElsewhere = true;
    this.#tell("elsewhere");
  }

  /** Finds out whether the draft was saved elsewhere. Does nothing while the server cannot be reached. */
  readonly check = async (): Promise<void> => {
    if (this.#saving || this.#isHeld || this.#isElsewhere) return;
    try {
      await this.#store.check?.();
    } catch (error) {
      if (error instanceof SavedElsewhere && !this.#saving && !this.#isHeld) this.#stopForOther();
    }
  };

  /** Saves the content of this editor over what was saved elsewhere. @throws ApiError, ConnectionLost */
  readonly keepMine = async (): Promise<void> => {
    await this.#store.takeOver?.();
    this.#isElsewhere = false;
    this.#kept = undefined;
    await this.save();
  };

  /** Stops saving automatically. */
  stop(): void {
    clearTimeout(this.#retry);
  }

  /**
   * Runs the action that ends the draft. Nothing is saved in the meantime, and afterwards only if it failed.
   * @throws SavedElsewhere before the action, if it would end a draft that was saved elsewhere
   */
  readonly end = async (action: () => Promise<void>): Promise<void> => {
    this.#isHeld = true;
    this.stop();
    try {
      await this.#saving;
      await this.#store.check?.();
      await action();
      this.#kept = writeJson(this.#newest);
    } catch (error) {
      this.#isHeld = false;
      if (error instanceof SavedElsewhere) this.#stopForOther();
      void this.save();
      throw error;
    }
  };
}

/** Saves a draft after a pause in typing, and when the page is left. */
export function useDraftSaver<T>(draft: T, store: DraftStore<T>) {
  const [kept, setKept] = useState<DraftStatus>("");
  const [keeper] = useState(() => new DraftSaver<T>(draft, store, setKept));
  const text = writeJson(draft);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the draft is a new object each time, its text is not
  useEffect(() => {
    keeper.take(draft, store);
    // The current text is not saved yet, whatever was saved before.
    if (keeper.isBehind) setKept((before) => (isStopped(before) ? before : "saving"));
    const timer = setTimeout(keeper.save, SAVE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [keeper, text, store]);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (keeper.isBehind) event.preventDefault();
    };
    const checkShown = () => {
      if (document.visibilityState === "visible") void keeper.check();
    };
    window.addEventListener("beforeunload", warn);
    window.addEventListener("online", keeper.save);
    window.addEventListener("focus", checkShown);
    document.addEventListener("visibilitychange", checkShown);
    return () => {
      window.removeEventListener("beforeunload", warn);
      window.removeEventListener("online", keeper.save);
      window.removeEventListener("focus", checkShown);
      document.removeEventListener("visibilitychange", checkShown);
      void keeper.save().then(() => keeper.stop());
    };
  }, [keeper]);
  return { kept, end: keeper.end, keepMine: keeper.keepMine };
}

const isStopped = (kept: DraftStatus): boolean => kept === "failed" || kept === "elsewhere";
