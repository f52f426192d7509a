/** Each text is measured anew by the spinner: more often than it can be read is for nothing. */
const REFRESH_MS = 100;

/**
 * Shows that something takes its time: a spinner on a terminal, nothing elsewhere. The work may tell how far it is, which
 * then stands beside the spinner.
 */
export async function withProgress<T>(
  text: string,
  work: (tell: (text: string) => void) => Promise<T>,
): Promise<T> {
  // A terminal without a width has no line to draw on.
  if (!process.stderr.isTTY || !process.stderr.columns) return work(() => {});
  const { default: ora } = await import("ora");
  const spinner = ora({ text, stream: process.stderr }).start();
  try {
    let shown = 0;
    return await work((told) => {
      if (Date.now() - shown < REFRESH_MS) return;
      shown = Date.now();
      spinner.text = told;
    });
  } finally {
    spinner.stop();
  }
}
