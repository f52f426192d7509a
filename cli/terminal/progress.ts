/** Shows that something takes its time: a spinner on a terminal, nothing elsewhere. */
export async function withProgress<T>(text: string, work: () => Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return work();
  const { default: ora } = await import("ora");
  const spinner = ora({ text, stream: process.stderr }).start();
  try {
    return await work();
  } finally {
    spinner.stop();
  }
}
