/** One interface over the places where files are kept, and what all of them ask of a key. */
import { BadRequest } from "../../../lib/errors.ts";
import { randomText } from "../../../lib/text/ids.ts";

/** What is told of a file beside its bytes. */
export interface FileFacts {
  size: number;
  content_type: string;
  /** As the one who stored the file wished it to be shown; undefined when nothing was said. */
  content_disposition: string | undefined;
  /** Set when the bytes are compressed, and are to be handed on as they are. */
  content_encoding: string | undefined;
  /** Another one whenever the bytes are others, in the form of an ETag (RFC 9110 §8.8.3). */
  etag: string;
  last_modified: Date;
}

/** Bytes from `start` to `end`, both included. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface StoredFile {
  facts: FileFacts;
  /** The bytes as the body of a response, read at the pace at which they are taken. */
  read(range?: ByteRange): Promise<Blob | ReadableStream<Uint8Array>>;
}

/** What whoever stores a file may say of it. */
export type Wishes = Partial<Pick<FileFacts, "content_type" | "content_disposition" | "content_encoding">>;

export interface ListQuery {
  prefix: string;
  /** Only keys after this one. */
  marker: string | undefined;
  max_keys: number;
}

/** Keys are checked by `checkKey` before they get here. */
export interface ObjectStore {
  /**
   * Stores a file under a key, in place of what was there. Once it resolves the file is on disk; when it fails, or the
   * body does, nothing has changed.
   * @throws whatever the body throws
   */
  put(key: string, body: AsyncIterable<Uint8Array>, wishes?: Wishes): Promise<void>;
  /** @throws NotFound */
  get(key: string): Promise<StoredFile>;
  /** @throws NotFound */
  delete(key: string): Promise<void>;
  /** Takes the place of what was at the other key. @throws NotFound */
  move(from: string, to: string): Promise<void>;
  /** Keys in order; `more` says that there are others after the last one. */
  list(query: ListQuery): Promise<{ keys: string[]; more: boolean }>;
}

/** The longest key of S3, in bytes. */
const MAX_KEY = 1024;

/**
 * Checks a key: parts separated by single slashes, none of them `.` or `..`.
 * @throws BadRequest saying what is wrong
 */
export function checkKey(key: string): string {
  const refuse = (why: string) => new BadRequest(`"${key.slice(0, 100)}" cannot be a file key: ${why}`);
  if (key === "") throw refuse("it is empty");
  if (Buffer.byteLength(key) > MAX_KEY) throw refuse(`it is longer than ${MAX_KEY} bytes`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f\\]/.test(key)) throw refuse("it holds a backslash or a control character");
  if (!key.isWellFormed()) throw refuse("it is not Unicode text");
  if (key.startsWith("/")) throw refuse("it begins with a slash");
  if (key.split("/").some((part) => part === "" || part === "." || part === "..")) {
    throw refuse("one of its parts is empty, `.` or `..`");
  }
  return key;
}

/** Where files go that were given no key. */
const UPLOADS = "svc_uploads";

/** A key that nobody has, below the service's own folder. */
export function newKey(extension: string | undefined): string {
  const clean = extension?.replace(/^\./, "") ?? "";
  return `${UPLOADS}/upload_${randomText(24)}${/^[\w-]{1,20}$/.test(clean) ? `.${clean}` : ""}`;
}

/** `photo.jpg` → `jpg` */
export function extensionOf(name: string): string | undefined {
  return /\.([\w-]+)$/.exec(name)?.[1];
}

/** The type that a key's extension stands for. */
export function typeOf(key: string): string {
  return Bun.file(key).type;
}
