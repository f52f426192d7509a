/** Line-by-line difference of two texts. */

export interface DiffLine {
  mark: "+" | "-" | " ";
  text: string;
}

/** Longer differing parts are shown as replaced: the comparison needs the product of both lengths. */
const MAX_COMPARED_LINES = 2_000;

/** Computes the shortest difference (longest common subsequence of lines). */
export function diffLines(before: string, after: string): DiffLine[] {
  const [from, to] = [splitLines(before), splitLines(after)];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start++;
  let end = 0;
  while (end < from.length - start && end < to.length - start && from.at(-1 - end) === to.at(-1 - end)) end++;
  const same = (text: string): DiffLine => ({ mark: " ", text });
  return [
    ...from.slice(0, start).map(same),
    ...diffChangedLines(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...from.slice(from.length - end).map(same),
  ];
}

function splitLines(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function diffChangedLines(from: string[], to: string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ mark: "-", text });
  const added = (text: string): DiffLine => ({ mark: "+", text });
  if (from.length > MAX_COMPARED_LINES || to.length > MAX_COMPARED_LINES)
    return [...from.map(removed), ...to.map(added)];
  // common[i][j]: length of the longest common subsequence of from[i…] and to[j…].
  const common = Array.from({ length: from.length + 1 }, () => new Uint16Array(to.length + 1));
  for (let i = from.length - 1; i >= 0; i--) {
    for (let j = to.length - 1; j >= 0; j--) {
      const [below, beside] = [common[i + 1]![j]!, common[i]![j + 1]!];
      common[i]![j] = from[i] === to[j] ? common[i + 1]![j + 1]! + 1 : Math.max(below, beside);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < from.length && j < to.length) {
    if (from[i] === to[j]) {
      lines.push({ mark: " ", text: from[i]! });
      i++;
      j++;
    } else if (common[i + 1]![j]! >= common[i]![j + 1]!) lines.push(removed(from[i++]!));
    else lines.push(added(to[j++]!));
  }
  return [...lines, ...from.slice(i).map(removed), ...to.slice(j).map(added)];
}

/** Returns only the changed lines, at most `limit` of them. */
export function createShortDiff(
  before: string,
  after: string,
  limit: number,
): { lines: DiffLine[]; left_out: number } {
  const lines = diffLines(before, after).filter(({ mark }) => mark !== " ");
  return { lines: lines.slice(0, limit), left_out: Math.max(0, lines.length - limit) };
}
