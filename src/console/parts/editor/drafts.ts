/** Drafts stored on the server: one per user and item, whichever tab or browser it is edited in. */
import { callOperation, sendRequest } from "../../api/call.ts";
import { ApiError, ConnectionLost } from "../../api/errors.ts";
import { isEqualJson } from "../../api/json.ts";
import { type DraftStore, SavedElsewhere } from "./draft-saver.ts";

export type DraftKind = "flow" | "script";

export interface DraftPlace {
  workspace: string;
  kind: DraftKind;
  path: string;
}

/** Running saves by item: a page that reads a draft waits for them. */
const running = new Map<string, Promise<unknown>>();
const keyOf = ({ workspace, kind, path }: DraftPlace) => `${workspace} ${kind} ${path}`;

/** Waits until the saves of an item that this page has begun have ended. */
export const awaitSaves = async (place: DraftPlace): Promise<void> => {
  await running.get(keyOf(place))?.catch(() => undefined);
};

/** Reads and saves the draft of one editor; never replaces what the editor has not seen. */
export class StoredDraft<T> implements DraftStore<T> {
  readonly #place: DraftPlace;
  /** Revision that the editor's content is based on; null: there was no draft. */
  #revision: string | null;
  /** Content of a save whose response was lost: it may be stored. */
  #unanswered: T | undefined;

  constructor(place: DraftPlace, revision: string | undefined) {
    this.#place = place;
    this.#revision = revision ?? null;
  }

  /** Saves the draft after the saves that are under way. @throws SavedElsewhere, ApiError, ConnectionLost */
  readonly save = (draft: T): Promise<void> => {
    const key = keyOf(this.#place);
    const saving = this.#save(draft).finally(() => {
      if (running.get(key) === saving) running.delete(key);
    });
    running.set(key, saving);
    return saving;
  };

  async #save(draft: T): Promise<void> {
    const { workspace, kind, path } = this.#place;
    const body = { path, typ: kind, value: draft, replaces: this.#revision };
    try {
      const response = await sendRequest("POST /w/{workspace}/drafts/create", { workspace, body });
      this.#revision = response.headers.get("draft-revision");
      this.#unanswered = undefined;
    } catch (error) {
      if (error instanceof ConnectionLost) this.#unanswered = draft;
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      const stored = await this.#read();
      const isOwn = [draft, this.#unanswered].some(
        (own) => own !== undefined && isEqualJson(own, stored.draft),
      );
      if (!isOwn || stored.draft_revision === undefined) throw new SavedElsewhere();
      this.#revision = stored.draft_revision;
      await this.#save(draft);
    }
  }

  /**
   * Checks that the draft was not changed elsewhere.
   * @throws SavedElsewhere if there is a draft that the editor has neither saved nor read
   */
  readonly check = async (): Promise<void> => {
    const before = this.#revision;
    const { draft, draft_revision } = await this.#read();
    const isSavedMeanwhile = this.#revision !== before;
    if (draft_revision === undefined || isSavedMeanwhile || draft_revision === before) return;
    if (this.#unanswered !== undefined && isEqualJson(this.#unanswered, draft)) return;
    throw new SavedElsewhere();
  };

  /** Lets the next save replace what was saved elsewhere. */
  readonly takeOver = async (): Promise<void> => {
    this.#revision = (await this.#read()).draft_revision ?? null;
  };

  #read() {
    const { workspace, kind, path } = this.#place;
    return kind === "flow"
      ? callOperation("GET /w/{workspace}/flows/get/draft/{path}", { workspace, path })
      : callOperation("GET /w/{workspace}/scripts/get/draft/{path}", { workspace, path });
  }
}

/** Deletes a draft. It is not an error if it no longer exists, for example because of a deployment. */
export async function discardDraft({ workspace, kind, path }: DraftPlace): Promise<void> {
  try {
    await callOperation("DELETE /w/{workspace}/drafts/delete/{kind}/{path}", { workspace, kind, path });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}
