/** The stored result of a canceled job, JSON text. */
export function canceledResult(reason: string, by: string): string {
  return JSON.stringify({
    error: { name: "Canceled", message: `Job canceled: ${reason} by ${by}`, reason, canceler: by },
  });
}
