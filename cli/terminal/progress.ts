/**
 * Shows that something takes its time: a spinner on a terminal, nothing elsewhere. The work may tell how far it is, which
 * then stands beside the spinner.
 */
export async function withProgress<T>(
  text: string,
  work: (tell: (text: string) => void) => Promise<T>,
): Promise<T> {
  if (!process.stderr.isTTY) return work(() => {});
  const { default: ora } = await import("ora");
  const spinner = ora({ text, stream: process.stderr }).start();
  try {
    return await work((told) => {
      spinner.text = told;
    });
  } finally {
    spinner.stop();
  }
}
