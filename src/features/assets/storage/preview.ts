/** The beginning of a file as text, as far as it is text. */
import type { ObjectStore } from "./store.ts";

export interface Preview {
  content_type: "RawText" | "Csv" | "Unknown";
  /** Why there is no content. */
  msg?: string;
  content?: string;
}

/** @param from first byte. @param length most bytes */
export async function preview(
  store: ObjectStore,
  key: string,
  { from, length }: { from: number; length: number },
): Promise<Preview> {
  const file = await store.get(key);
  const { size, content_type } = file.facts;
  const end = Math.min(from + length, size) - 1;
  if (end < from) return { content_type: "RawText", content: "" };
  const bytes = await new Response(await file.read({ start: from, end })).bytes();
  const content = textOf(bytes, from > 0);
  if (content === undefined) return { content_type: "Unknown", msg: "the file is not text" };
  return { content_type: isCsv(key, content_type) ? "Csv" : "RawText", content };
}

function isCsv(key: string, content_type: string): boolean {
  return content_type.startsWith("text/csv") || /\.(csv|tsv)$/i.test(key);
}

/** Undefined when the bytes are no UTF-8; a character cut off at either end is left out. */
function textOf(bytes: Uint8Array, cut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  let begins = 0;
  while (cut && begins < 3 && (bytes[begins]! & 0xc0) === 0x80) begins++;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(begins), { stream: true });
  } catch {
    return undefined;
  }
}
