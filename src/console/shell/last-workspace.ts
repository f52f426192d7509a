/** The workspace that was open last in this browser. */
import { storageKey } from "../api/base.ts";

const KEY = storageKey("workspace");

export const lastWorkspace = (): string | null => localStorage.getItem(KEY);
export const noteWorkspace = (id: string): void => localStorage.setItem(KEY, id);
