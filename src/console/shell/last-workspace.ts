/** The workspace that was open last in this browser. */
import { getStorageKey } from "../api/base.ts";

const KEY = getStorageKey("workspace");

export const getLastWorkspace = (): string | null => localStorage.getItem(KEY);
export const storeLastWorkspace = (id: string): void => localStorage.setItem(KEY, id);
export const forgetLastWorkspace = (): void => localStorage.removeItem(KEY);
