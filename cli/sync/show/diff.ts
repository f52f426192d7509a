/** What differs between two texts, line by line. */

export interface Line {
  mark: "+" | "-" | " ";
  text: string;
}

/** Texts beyond this many lines that differ are told as a whole: comparing them takes the product of both. */
const MOST_LINES = 2_000;

/** The shortest way from one text to the other (the longest common subsequence of their lines). */
export function diffLines(before: string, after: string): Line[] {
  const [from, to] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start++;
  let end = 0;
  while (end < from.length - start && end < to.length - start && from.at(-1 - end) === to.at(-1 - end)) end++;
  const same = (text: string): Line => ({ mark: " ", text });
  return [
    ...from.slice(0, start).map(same),
    ...between(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...from.slice(from.length - end).map(same),
  ];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function between(from: string[], to: string[]): Line[] {
  const removed = (text: string): Line => ({ mark: "-", text });
  const added = (text: string): Line => ({ mark: "+", text });
  if (from.length > MOST_LINES || to.length > MOST_LINES) return [...from.map(removed), ...to.map(added)];
  // common[i][j]: how many lines from[i…] and to[j…] have in common, in their order.
  const common = Array.from({ length: from.length + 1 }, () => new Uint16Array(to.length + 1));
  for (let i = from.length - 1; i >= 0; i--) {
    for (let j = to.length - 1; j >= 0; j--) {
      const [below, beside] = [common[i + 1]![j]!, common[i]![j + 1]!];
      common[i]![j] = from[i] === to[j] ? common[i + 1]![j + 1]! + 1 : Math.max(below, beside);
    }
  }
  const lines: Line[] = [];
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

/** Only what differs, at most so many lines of it. */
export function shortDiff(before: string, after: string, most: number): { lines: Line[]; left_out: number } {
  const lines = diffLines(before, after).filter(({ mark }) => mark !== " ");
  return { lines: lines.slice(0, most), left_out: Math.max(0, lines.length - most) };
}
