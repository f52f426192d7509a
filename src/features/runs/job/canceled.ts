/** Creates the stored result of a canceled job, as JSON text. */
export function createCanceledResult(reason: string, by: string): string {
  return JSON.stringify({
    error: { name: "Canceled", message: `Job canceled: ${reason} by ${by}`, reason, canceler: by },
  });
}
