/**
 * Splits a job into words, as stored in the full-text index and compared by searches: sequences of letters and
 * digits, in lower case and without accents. Both databases receive the same words, so they return the same results.
 * In scripts without spaces between words, each character is a word.
 */
import { BadRequest } from "../../../lib/errors.ts";
import { ENCRYPTED_PREFIX } from "../../assets/interpolate.ts";

/** Maximum characters of arguments, and of a result, that are searched. */
export const MAX_TEXT_CHARS = 65_536;
/** Maximum characters of words kept from each of them. */
const MAX_WORDS_CHARS = 8_000;
/** Longer words are truncated, in searches too. */
const MAX_WORD_CHARS = 64;
/** Minimum length of a query's last word to match longer words as a prefix. */
const MIN_PREFIX_CHARS = 3;
/** Maximum number of terms of a query, and maximum characters of one. */
const MAX_QUERY_TERMS = 20;

const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[[\p{L}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]]+/gv;

/** The searched fields of a job; `args` and `result` may be truncated after MAX_TEXT_CHARS. */
export interface SearchedFields {
  id: string;
  script_path: string | null;
  created_by: string;
  labels: string[] | null;
  args: string;
  result: string | null;
}

/** Returns a job's words with single spaces between them. */
export function listJobWords({ id, script_path, created_by, labels, args, result }: SearchedFields): string {
  const plain = splitWords([id, script_path ?? "", created_by, ...(labels ?? [])].join(" "));
  return [plain, wordsOfJson(args), wordsOfJson(result ?? "")].filter((words) => words !== "").join(" ");
}

/**
 * Splits a query into terms. A term is a word, or a sequence of words, such as `ann example com` for an e-mail
 * address or a quoted phrase. The last word of a term is a prefix, unless it is short.
 * @throws BadRequest for an empty query, or too many terms
 */
export function parseTerms(query: string): string[] {
  const parts = [...query.matchAll(/"([^"]+)"|([^\s"]+)/g)].map(([, phrase, word]) => phrase ?? word!);
  const terms = parts.map(splitWords).filter((term) => term !== "");
  if (terms.length === 0) throw new BadRequest("query field `search_query`: there is no word to search for");
  if (terms.length > MAX_QUERY_TERMS) {
    throw new BadRequest(`query field \`search_query\`: more than ${MAX_QUERY_TERMS} words; quote a phrase`);
  }
  return terms;
}

/** Whether the last word of a term is a prefix. Short ones are not, because too many words begin with them. */
export function isPrefixTerm(term: string): boolean {
  return term.length - (term.lastIndexOf(" ") + 1) >= MIN_PREFIX_CHARS;
}

/** Whether a job contains all terms; gives the same result as the index. */
export function hasTerms(job: SearchedFields, terms: readonly string[]): boolean {
  const words = ` ${listJobWords(job)} `;
  return terms.every((term) => words.includes(isPrefixTerm(term) ? ` ${term}` : ` ${term} `));
}

/** Returns the words of JSON text, which may be truncated anywhere; encrypted values are left out. */
function wordsOfJson(json: string): string {
  const texts: string[] = [];
  for (const [, inString, outside] of json
    .slice(0, MAX_TEXT_CHARS)
    .matchAll(/"((?:[^"\\]|\\.)*)"?|([^"]+)/gs)) {
    const text = inString === undefined ? outside! : unescapeJson(inString);
    if (!text.startsWith(ENCRYPTED_PREFIX)) texts.push(text);
  }
  const words = splitWords(texts.join(" "));
  if (words.length <= MAX_WORDS_CHARS) return words;
  return words.slice(0, words.lastIndexOf(" ", MAX_WORDS_CHARS)).trim();
}

function splitWords(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII needs no normal form
  const plain = /^[\x00-\x7f]*$/.test(text) ? text : text.normalize("NFKD").replace(/\p{M}/gu, "");
  const words = plain.toLowerCase().match(WORD) ?? [];
  return words.map((word) => (word.length > MAX_WORD_CHARS ? cutWord(word) : word)).join(" ");
}

/** Truncates a word without splitting a surrogate pair. */
const cutWord = (word: string): string =>
  [...word.slice(0, MAX_WORD_CHARS)].join("").replace(/[\ud800-\udbff]$/, "");

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

function unescapeJson(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code, char) =>
    code ? String.fromCharCode(Number.parseInt(code, 16)) : (ESCAPES[char] ?? char),
  );
}
