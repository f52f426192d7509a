/** Keeps what is written: one save after another, the newest last, and none beside a deployment. */
import { useEffect, useState } from "react";
import { writeJson } from "../../api/json.ts";

const SAVE_AFTER_MS = 1_500;

type Kept = "" | "saving" | "kept" | "failed";
type Keep<T> = (draft: T) => Promise<void>;

class Keeper<T> {
  #kept: string;
  #newest: T;
  #keep: Keep<T>;
  #tell: (kept: Kept) => void;
  #saving: Promise<void> | undefined;
  #isHeld = false;

  constructor(draft: T, keep: Keep<T>, tell: (kept: Kept) => void) {
    this.#kept = writeJson(draft);
    this.#newest = draft;
    this.#keep = keep;
    this.#tell = tell;
  }

  /** Whether something would be lost with the page. */
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
    while (this.isBehind && !this.#isHeld) {
      const draft = this.#newest;
      this.#tell("saving");
      try {
        await this.#keep(draft);
      } catch {
        return this.#tell("failed");
      }
      this.#kept = writeJson(draft);
      this.#tell("kept");
    }
  }

  /** Performs what ends the draft. Nothing is saved meanwhile, and afterwards only if it failed. */
  readonly end = async (action: () => Promise<void>): Promise<void> => {
    this.#isHeld = true;
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

/** Saves a draft when nothing was typed for a while, and when the page is left. */
export function useKeeping<T>(draft: T, keep: Keep<T>) {
  const [kept, setKept] = useState<Kept>("");
  const [keeper] = useState(() => new Keeper<T>(draft, keep, setKept));
  const text = writeJson(draft);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the draft is a new object each time, its text is not
  useEffect(() => {
    keeper.take(draft, keep);
    const timer = setTimeout(keeper.save, SAVE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [keeper, text, keep]);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (keeper.isBehind) event.preventDefault();
    };
    window.addEventListener("beforeunload", warn);
    return () => {
      window.removeEventListener("beforeunload", warn);
      void keeper.save();
    };
  }, [keeper]);
  return { kept, end: keeper.end };
}
