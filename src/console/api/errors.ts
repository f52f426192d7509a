/** Error response of the server, with its message and hint. */
export class ApiError extends Error {
  readonly status: number;
  /** Suggested remedy. */
  readonly hint: string | undefined;
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined;

  constructor(status: number, message: string, hint?: string, requestId?: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.hint = hint;
    this.requestId = requestId;
  }
}

/** The request failed without a response. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super("The server cannot be reached.", { cause });
    this.name = "ConnectionLost";
  }
}

interface Problem {
  detail?: string;
  hint?: string;
}

export async function readApiError(response: Response): Promise<ApiError> {
  const id = response.headers.get("x-request-id") ?? undefined;
  const text = await response.text().catch(() => "");
  const isProblem = response.headers.get("content-type")?.includes("problem+json");
  if (!isProblem)
    return new ApiError(response.status, text.slice(0, 2_000) || response.statusText, undefined, id);
  const { detail, hint } = JSON.parse(text) as Problem;
  return new ApiError(response.status, detail ?? response.statusText, hint, id);
}

/** Whether a retry may succeed. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 408 || error.status === 429;
  return true;
}
