/** The interface of object stores, and validation of file keys. */
import { BadRequest } from "../../../lib/errors.ts";
import { createRandomText } from "../../../lib/text/ids.ts";

/** Properties of a stored file. */
export interface FileInfo {
  size: number;
  content_type: string;
  /** As given when the file was stored; undefined if not given. */
  content_disposition: string | undefined;
  /** Set if the bytes are compressed; they are sent as they are. */
  content_encoding: string | undefined;
  /** Changes with the content; in the form of an ETag (RFC 9110 §8.8.3). */
  etag: string;
  last_modified: Date;
}

/** A byte range; `start` and `end` are inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface StoredFile {
  info: FileInfo;
  /** Returns the bytes as a response body, read with backpressure. */
  read(range?: ByteRange): Promise<Blob | ReadableStream<Uint8Array>>;
}

/** Metadata that can be set when a file is stored. */
export type ObjectMetadata = Partial<
  Pick<FileInfo, "content_type" | "content_disposition" | "content_encoding">
>;

export interface ListQuery {
  prefix: string;
  /** Return only keys after this one. */
  marker: string | undefined;
  max_keys: number;
}

/** A store of files by key. Keys must have been validated by `parseFileKey`. */
export interface ObjectStore {
  /**
   * Stores a file, replacing an existing one. When it resolves, the file is durable; if it or the body fails, nothing
   * has changed.
   * @throws errors of the body
   */
  put(key: string, body: AsyncIterable<Uint8Array>, wishes?: ObjectMetadata): Promise<void>;
  /** Opens a stored file. @throws NotFound */
  get(key: string): Promise<StoredFile>;
  /** Deletes a stored file. @throws NotFound */
  delete(key: string): Promise<void>;
  /** Moves a file, replacing the one at the target. @throws NotFound */
  move(from: string, to: string): Promise<void>;
  /** Lists keys in order; `more` is true if there are further ones. */
  list(query: ListQuery): Promise<{ keys: string[]; more: boolean }>;
}

/** Upper limit of a key's length, as in S3. */
const MAX_KEY_BYTES = 1024;

/**
 * Validates a key: parts separated by single slashes, none of them `.` or `..`.
 * @throws BadRequest saying what is wrong
 */
export function parseFileKey(key: string): string {
  const refuse = (why: string) => new BadRequest(`"${key.slice(0, 100)}" cannot be a file key: ${why}`);
  if (key === "") throw refuse("it is empty");
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw refuse(`it is longer than ${MAX_KEY_BYTES} bytes`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f\\]/.test(key)) throw refuse("it holds a backslash or a control character");
  if (!key.isWellFormed()) throw refuse("it is not Unicode text");
  if (key.startsWith("/")) throw refuse("it begins with a slash");
  if (key.split("/").some((part) => part === "" || part === "." || part === "..")) {
    throw refuse("one of its parts is empty, `.` or `..`");
  }
  return key;
}

/** Folder of uploads without a given key. */
const UPLOADS_FOLDER = "svc_uploads";

/** Creates an unused key in the uploads folder. */
export function createFileKey(extension: string | undefined): string {
  const clean = extension?.replace(/^\./, "") ?? "";
  return `${UPLOADS_FOLDER}/upload_${createRandomText(24)}${/^[\w-]{1,20}$/.test(clean) ? `.${clean}` : ""}`;
}

/** Returns the file extension: `photo.jpg` → `jpg`. */
export function getFileExtension(name: string): string | undefined {
  return /\.([\w-]+)$/.exec(name)?.[1];
}

/** Returns the content type for a key's extension. */
export function guessContentType(key: string): string {
  return Bun.file(key).type;
}
