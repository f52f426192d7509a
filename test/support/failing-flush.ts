/**
 * Preloaded into a server: from the moment that the file `FAIL_FLUSH_FILE` exists, the disk refuses to flush the log of
 * the database. It stands in for `fdatasync`, since a real disk that fails is not to be had.
 */
import { existsSync, fdatasync } from "node:fs";
import { plugin } from "bun";

type Flush = (file: number, done: (cause: Error | null) => void) => void;

const flush: Flush = (file, done) => {
  if (!existsSync(process.env.FAIL_FLUSH_FILE!)) fdatasync(file, done);
  else setImmediate(done, Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" }));
};
(globalThis as { failingFlush?: Flush }).failingFlush = flush;

plugin({
  name: "failing flush",
  setup(build) {
    build.onLoad({ filter: /src\/database\/sqlite\/sqlite\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      const own = `${text}\nconst fdatasync = globalThis.failingFlush;`;
      const contents = own.replace(/\bfdatasync, (?=.*"node:fs")/, "");
      return { contents, loader: "ts" };
    });
  },
});
