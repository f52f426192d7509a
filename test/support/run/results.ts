/** Parses the output of `bun test` while it is printed. */

export interface Results {
  passed: number;
  skipped: number;
  failed: number;
  /** Files that have started to report. */
  files: Set<string>;
  /**
   * Files with a failed test, an error outside of tests, or a crashed process, each with the lines that
   * describe it.
   */
  failed_files: Map<string, string[]>;
  /** Whether a failure does not name its file. */
  has_stray_error: boolean;
  /** Whether `bun test` printed its summary, which means that it finished. */
  is_complete: boolean;
  /**
   * Each failure with everything printed since the previous result. Exact for files that run one after another.
   */
  failures: string[];
}

const FILE = /^(\S+\.test\.tsx?):$/;
const RESULT = /^\((pass|fail|skip|todo)\) /;
const CRASH = /^✗ (\S+) \(/;
const SUMMARY = /^Ran \d+ tests? across \d+ files?\./;
const ERROR_OUTSIDE = "# Unhandled error between tests";
const END_OF_ERROR = /^-{20,}$/;
const ERROR = /^\w*error: /i;
const TEST_FILE_IN_STACK = /\/(test\/\S+?\.test\.tsx?):\d/;
/** Maximum number of lines kept of one failure: the last ones. */
const MAX_LINES = 300;
const MAX_COLUMNS = 400;

/** The error of a failure, its place in the test, and the line that names the test. */
function summarizeFailure(block: string[]): string[] {
  const error = block.find((line) => ERROR.test(line));
  const place = block.find((line) => TEST_FILE_IN_STACK.test(line));
  return [...new Set([error, place?.trim(), block.at(-1)])].filter((line) => line !== undefined);
}

export function createResultReader() {
  const results: Results = {
    passed: 0,
    skipped: 0,
    failed: 0,
    files: new Set(),
    failed_files: new Map(),
    has_stray_error: false,
    is_complete: false,
    failures: [],
  };
  let file = "";
  let block: string[] = [];
  /** Lines of failed tests. At the end, `bun test` repeats them below the last file. */
  const failed_lines = new Set<string>();
  /** Remaining horizontal rules of the two around an error outside of tests. */
  let rules_to_come = 0;

  function fail(name = file): void {
    if (name)
      results.failed_files.set(name, [...(results.failed_files.get(name) ?? []), ...summarizeFailure(block)]);
    else results.has_stray_error = true;
    results.failures.push([`${name}:`, ...block].join("\n"));
    block = [];
  }

  function readLine(line: string): void {
    if (SUMMARY.test(line)) results.is_complete = true;
    const found = FILE.exec(line);
    if (found) {
      file = found[1]!;
      results.files.add(file);
      block = [];
      return;
    }
    block.push(line.slice(0, MAX_COLUMNS));
    if (block.length > MAX_LINES) block.shift();
    const result = RESULT.exec(line)?.[1];
    const crashed = CRASH.exec(line)?.[1];
    if (result === "fail" && failed_lines.has(line)) block = [];
    else if (result === "fail") {
      failed_lines.add(line);
      results.failed++;
      fail();
    } else if (result) {
      results[result === "pass" ? "passed" : "skipped"]++;
      block = [];
    } else if (crashed) fail(crashed);
    else if (line === ERROR_OUTSIDE) rules_to_come = 2;
    else if (rules_to_come > 0 && END_OF_ERROR.test(line) && --rules_to_come === 0) {
      // When files run in parallel, the heading before it may be another file's.
      const thrown_by = TEST_FILE_IN_STACK.exec(block.join("\n"))?.[1];
      fail(thrown_by ?? "");
    }
  }

  /** @returns the reader of one stream, whose lines may be split anywhere; call `end` when it has closed */
  function createStreamReader() {
    let rest = "";
    return {
      read(text: string): void {
        const lines = (rest + text).split("\n");
        rest = lines.pop()!;
        for (const line of lines) readLine(line);
      },
      end(): void {
        if (rest !== "") readLine(rest);
        rest = "";
      },
    };
  }

  return { results, createStreamReader };
}
