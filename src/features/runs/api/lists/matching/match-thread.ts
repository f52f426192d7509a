/** Program of the thread that compares large rows: it replies to each text. */
import { parseSchemaJson } from "../../../../../lib/json/json.ts";
import { type JsonCondition, type JsonRow, listMatches } from "./match-rows.ts";

/**
 * Announces rows, whose arguments and results follow as one text: a message that is a text takes no time, while one
 * that contains texts is copied slowly on the sending thread.
 */
export interface MatchRequest {
  rows: readonly Omit<JsonRow, "args" | "result">[];
  /** Lengths of the arguments and the result of each row; undefined if it has none. */
  lengths: readonly (readonly [args: number | undefined, result: number | undefined])[];
  /** JSON text of the condition: a message does not preserve the digits of numbers. */
  wanted: string;
}

export type MatchReply = { ids: string[] } | { error: string };

declare const self: Worker;

let request: MatchRequest | undefined;

function match({ rows, lengths, wanted }: MatchRequest, text: string): MatchReply {
  let at = 0;
  const take = (length: number | undefined) => {
    if (length === undefined) return undefined;
    at += length;
    return text.slice(at - length, at);
  };
  try {
    const whole = rows.map((row, index): JsonRow => {
      const [args, result] = lengths[index]!;
      return { ...row, args: take(args) ?? "", result: take(result) ?? null };
    });
    return { ids: listMatches(whole, parseSchemaJson(wanted) as JsonCondition) };
  } catch (cause) {
    return { error: (cause as Error).message };
  }
}

self.onmessage = ({ data }: MessageEvent<MatchRequest | string>) => {
  if (typeof data !== "string") request = data;
  else self.postMessage(match(request!, data));
};
