/**
 * Preloaded into a server: once the file `FAIL_FLUSH_FILE` exists, flushing the log of the database fails. It
 * replaces `fdatasync`, because a real failing disk is not available.
 */
import { existsSync, fdatasync, fdatasyncSync } from "node:fs";
import { plugin } from "bun";

type Flush = (file: number, done: (cause: Error | null) => void) => void;

const createError = () => Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
const isFailing = () => existsSync(process.env.FAIL_FLUSH_FILE!);

const flush: Flush = (file, done) => {
  if (!isFailing()) fdatasync(file, done);
  else setImmediate(done, createError());
};
const flushInPlace = (file: number): void => {
  if (isFailing()) throw createError();
  fdatasyncSync(file);
};
Object.assign(globalThis, { failingFlush: { flush, flushInPlace } });

plugin({
  name: "failing flush",
  setup(build) {
    build.onLoad({ filter: /src\/database\/sqlite\/log-flush\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      const own = `${text}\nconst { flush: fdatasync, flushInPlace: fdatasyncSync } = globalThis.failingFlush;`;
      const contents = own.replace(/\bfdatasync, fdatasyncSync, (?=.*"node:fs")/, "");
      return { contents, loader: "ts" };
    });
  },
});
