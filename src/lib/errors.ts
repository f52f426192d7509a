/**
 * The errors a caller can cause or must be told about. The `name` is the machine-readable identifier that travels
 * in the `svc-error` header (spelled out, since a class's own name does not survive minification); the HTTP status
 * belongs to src/platform/http/respond.ts, which is the one place that gives it.
 */
export class SvcError extends Error {
  /** What a person can do about it; shown by the CLI under the message. */
  readonly hint: string | undefined;
  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(message, { cause: options.cause });
    this.hint = options.hint;
  }
}

/** The request is well-formed HTTP but says something wrong: a bad field, a bad path, a duplicate. */
export class BadRequest extends SvcError {
  override readonly name: string = "BadRequest";
}
/** The body or a parameter does not have the declared shape. */
export class InvalidInput extends SvcError {
  override readonly name: string = "InvalidInput";
}
/** No credentials, or ones that are unknown, expired or not meant for this workspace. */
export class Unauthorized extends SvcError {
  override readonly name: string = "Unauthorized";
}
/** The caller is known and may not do this. */
export class Forbidden extends SvcError {
  override readonly name: string = "Forbidden";
}
/** What is asked belongs to the Enterprise Edition, and the instance has no licence that holds. */
export class EnterpriseRequired extends Forbidden {
  override readonly name = "EnterpriseRequired";
}
/** There is no such thing, or the caller may not know that there is. */
export class NotFound extends SvcError {
  override readonly name: string = "NotFound";
}
/** There is such a thing, but this cannot be done to it; `allow` lists the methods that can. */
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
/** An idempotency key that stands for another request already. */
export class IdempotencyKeyReused extends SvcError {
  override readonly name: string = "IdempotencyKeyReused";
}
/** The thing is in a state that does not allow this. */
export class Conflict extends SvcError {
  override readonly name: string = "Conflict";
}
/** Too many attempts; `retry_after_s` says when the next one is welcome. */
export class TooManyRequests extends SvcError {
  override readonly name: string = "TooManyRequests";
  readonly retry_after_s: number;
  constructor(message: string, retry_after_s: number) {
    super(message);
    this.retry_after_s = retry_after_s;
  }
}
/** The server is draining or has no room for this call now. */
export class Unavailable extends SvcError {
  override readonly name: string = "Unavailable";
  /** The job that the call was about, which goes on. */
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
/** A synchronous call waited as long as the instance allows. */
export class WaitTimeout extends SvcError {
  override readonly name: string = "WaitTimeout";
}
/** The caller hung up before there was an answer: nobody reads this one. */
export class CallerGone extends SvcError {
  override readonly name: string = "CallerGone";
}
/** The service itself failed; the message is safe to show, the cause goes to the log. */
export class Internal extends SvcError {
  override readonly name: string = "Internal";
}
