/** The spinner measures each text, so updates faster than one can read are dropped. */
const REFRESH_INTERVAL_MS = 100;

/**
 * Shows a spinner on a terminal, and nothing elsewhere, while the work runs. Progress that the work reports is shown
 * beside the spinner.
 */
export async function withProgress<T>(
  text: string,
  work: (tell: (text: string) => void) => Promise<T>,
): Promise<T> {
  // A terminal without a width (some CI systems) cannot show a spinner.
  if (!process.stderr.isTTY || !process.stderr.columns) return work(() => {});
  const { default: ora } = await import("ora");
  const spinner = ora({ text, stream: process.stderr }).start();
  try {
    let shown = 0;
    return await work((told) => {
      if (Date.now() - shown < REFRESH_INTERVAL_MS) return;
      shown = Date.now();
      spinner.text = told;
    });
  } finally {
    spinner.stop();
  }
}
