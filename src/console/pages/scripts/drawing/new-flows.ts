/** New flows, kept in the browser until they are deployed, because the server stores no drafts for them. */
import { storageKeyOf } from "../../../api/base.ts";
import { isRecord, parseJson, writeJson } from "../../../api/json.ts";
import type { FlowDocument } from "./model/document.ts";

const keyOf = (email: string, workspace: string, path: string) =>
  storageKeyOf(email, `new-flow:${workspace}:${path}`);

export function readNewFlow(email: string, workspace: string, path: string): FlowDocument | undefined {
  const text = localStorage.getItem(keyOf(email, workspace, path));
  if (text === null) return undefined;
  try {
    const found = parseJson(text);
    return isRecord(found) && isRecord(found.value) ? (found as FlowDocument) : undefined;
  } catch {
    return undefined;
  }
}

export const writeNewFlow = (email: string, workspace: string, flow: FlowDocument): void =>
  localStorage.setItem(keyOf(email, workspace, flow.path), writeJson(flow));

export const forgetNewFlow = (email: string, workspace: string, path: string): void =>
  localStorage.removeItem(keyOf(email, workspace, path));
