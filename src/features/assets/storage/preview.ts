/** Previews of text files. */
import type { ObjectStore } from "./object-store.ts";

export interface Preview {
  content_type: "RawText" | "Csv" | "Unknown";
  /** Reason why there is no content. */
  msg?: string;
  content?: string;
}

/** Reads a part of a file as text. @param from offset of the first byte @param length maximum bytes */
export async function previewFile(
  store: ObjectStore,
  key: string,
  { from, length }: { from: number; length: number },
): Promise<Preview> {
  const file = await store.get(key);
  const { size, content_type } = file.info;
  const end = Math.min(from + length, size) - 1;
  if (end < from) return { content_type: "RawText", content: "" };
  const bytes = await new Response(await file.read({ start: from, end })).bytes();
  const content = decodeText(bytes, from > 0);
  if (content === undefined) return { content_type: "Unknown", msg: "the file is not text" };
  return { content_type: isCsv(key, content_type) ? "Csv" : "RawText", content };
}

function isCsv(key: string, content_type: string): boolean {
  return content_type.startsWith("text/csv") || /\.(csv|tsv)$/i.test(key);
}

/** Decodes UTF-8, dropping characters cut off at either end; undefined if the bytes are not UTF-8 text. */
function decodeText(bytes: Uint8Array, cut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  let begins = 0;
  while (cut && begins < 3 && (bytes[begins]! & 0xc0) === 0x80) begins++;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(begins), { stream: true });
  } catch {
    return undefined;
  }
}
