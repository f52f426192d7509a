/**
 * Tells who follows a link that answers an approval. Programs mean to answer. Browsers, previews of links in chats and
 * scanners of mails must not: a message that contains the link would answer by being delivered.
 */
import { parseJson } from "../../../lib/json/json.ts";
import { decodePayload } from "../arguments/arguments.ts";

/** Words in the User-Agent of browsers, and of what reads links in messages. */
const READERS =
  /mozilla|opera|preview|unfurl|expand|scan|crawl|spider|fetcher|externalhit|bot\b|slack|discord|telegram|whatsapp|skype|teams|mattermost|facebook|linkedin|bitrix|iframely|embedly/i;
/** A program that calls itself a browser. */
const PROGRAM = /powershell/i;

/** Whether a person, or what previews or scans messages, follows the link. */
export function isOpenedInMessage({ headers }: Request): boolean {
  // https://www.w3.org/TR/fetch-metadata/: a script of a page answers on purpose, as a program does.
  const mode = headers.get("sec-fetch-mode");
  if (mode !== null) return mode !== "cors" && mode !== "same-origin";
  if (headers.get("accept")?.includes("text/html")) return true;
  const agent = headers.get("user-agent") ?? "";
  return READERS.test(agent) && !PROGRAM.test(agent);
}

/** Parses what a link says that the next step reads. @returns undefined for a link without it @throws BadRequest */
export function parsePayload(payload: string | undefined): unknown {
  const text = decodePayload(payload);
  return text === "" ? undefined : parseJson(text);
}
