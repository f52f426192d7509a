const MB = 1_048_576;

/** Formats a size in bytes: `340 MB`, `1.2 GB`. */
export const formatSize = (bytes: number): string =>
  bytes < 1_024 * MB ? `${Math.round(bytes / MB)} MB` : `${(bytes / 1_024 / MB).toFixed(1)} GB`;
