/**
 * Errors that callers can cause or must be told about. `name` is the machine-readable identifier in the `svc-error`
 * header; it is a literal because class names do not survive minification. `platform/http/respond.ts` maps errors to
 * HTTP statuses.
 */
export class SvcError extends Error {
  /** Suggested remedy; the CLI prints it below the message. */
  readonly hint: string | undefined;
  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(message, { cause: options.cause });
    this.hint = options.hint;
  }
}

/** The request is well-formed, but its content is wrong: a bad field, a bad path, a duplicate. */
export class BadRequest extends SvcError {
  override readonly name: string = "BadRequest";
}
/** The body or a parameter does not have the declared shape. */
export class InvalidInput extends SvcError {
  override readonly name: string = "InvalidInput";
}
/** Credentials are missing, unknown, expired or not valid for this workspace. */
export class Unauthorized extends SvcError {
  override readonly name: string = "Unauthorized";
}
/** The caller is known, but may not do this. */
export class Forbidden extends SvcError {
  override readonly name: string = "Forbidden";
}
/** Requires the Enterprise Edition, and the instance has no valid license. */
export class EnterpriseRequired extends Forbidden {
  override readonly name = "EnterpriseRequired";
}
/** The item does not exist, or the caller may not know that it does. */
export class NotFound extends SvcError {
  override readonly name: string = "NotFound";
}
/** The resource exists, but not with this method; `allow` lists its methods. */
export class MethodNotAllowed extends SvcError {
  override readonly name: string = "MethodNotAllowed";
  readonly allow: string;
  constructor(message: string, allow: string) {
    super(message);
    this.allow = allow;
  }
}
/** The body is larger than the server accepts. */
export class PayloadTooLarge extends SvcError {
  override readonly name: string = "PayloadTooLarge";
}
/** The idempotency key was used for a different request. */
export class IdempotencyKeyReused extends SvcError {
  override readonly name: string = "IdempotencyKeyReused";
}
/** The item is in a state that does not allow this. */
export class Conflict extends SvcError {
  override readonly name: string = "Conflict";
}
/** Too many attempts; `retry_after_s` says when to try again. */
export class TooManyRequests extends SvcError {
  override readonly name: string = "TooManyRequests";
  readonly retry_after_s: number;
  constructor(message: string, retry_after_s: number) {
    super(message);
    this.retry_after_s = retry_after_s;
  }
}
/** The server is draining, or has no capacity for this call now. */
export class Unavailable extends SvcError {
  override readonly name: string = "Unavailable";
  /** The job that the call started; it continues. */
  readonly job_id: string | undefined;
  constructor(message: string, options: { cause?: unknown; hint?: string; job_id?: string } = {}) {
    super(message, options);
    this.job_id = options.job_id;
  }
}
/** The disk or the database's quota is full: nothing was stored. */
export class StorageFull extends SvcError {
  override readonly name: string = "StorageFull";
}
/** A synchronous call reached the instance's wait limit. */
export class WaitTimeout extends SvcError {
  override readonly name: string = "WaitTimeout";
}
/** The caller disconnected before the response; nobody reads this one. */
export class CallerGone extends SvcError {
  override readonly name: string = "CallerGone";
}
/** The service failed; the message is safe to show, the cause is logged. */
export class Internal extends SvcError {
  override readonly name: string = "Internal";
}
