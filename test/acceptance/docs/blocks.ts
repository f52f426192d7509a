/** The fenced code blocks of the documents, and the marks in their info strings. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "../../..");

/**
 * Marks after the language, which readers do not see: `no-run` is not run, `goes-on` runs until Ctrl-C, `typed`
 * answers prompts on a terminal, `wmill` needs that command; a word with a dot is the file to save the text in.
 */
export interface Block {
  file: string;
  /** Line of the opening fence, from 1. */
  line: number;
  heading: string;
  language: string;
  word: string | undefined;
  text: string;
  /** Expected last output: the block that directly follows the commands. */
  output?: string;
}

const FENCED = /^```(\S*)(?:[ \t]+(\S+))?\n([\s\S]*?)^```$/gm;

/** @param file from the root of the checkout */
export function blocksOf(file: string): Block[] {
  const page = readFileSync(join(ROOT, file), "utf8");
  const blocks: Block[] = [];
  let end = 0;
  for (const match of page.matchAll(FENCED)) {
    const [whole, language = "", word, text = ""] = match;
    const isDirect = page.slice(end, match.index).trim() === "";
    end = match.index + whole.length;
    const last = blocks.at(-1);
    if (isDirect && last?.language === "sh" && language !== "sh" && word === undefined) {
      last.output = text.trim();
      continue;
    }
    const before = page.slice(0, match.index);
    const line = before.split("\n").length;
    const heading = headingsOf(before).at(-1) ?? "";
    blocks.push({ file, line, heading, language, word, text });
  }
  return blocks;
}

/** Ignores lines in code blocks that look like headings, such as shell comments. */
export function headingsOf(page: string): string[] {
  return [...page.replace(FENCED, "").matchAll(/^#+ (.*)$/gm)].map((match) => match[1]!);
}

/** Returns the only block of a language, or with a file name. @throws if there is none */
export function blockOf(file: string, wanted: string): string {
  const found = blocksOf(file).find(({ language, word }) => language === wanted || word === wanted);
  if (!found) throw new Error(`${file} has no block of ${wanted}`);
  return found.text;
}
