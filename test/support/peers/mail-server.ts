/** A real mail server on loopback, and its certificate. */
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

/** Self-signed, for 127.0.0.1 and localhost, valid for a century; its key protects nothing. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUVYeT2Cam1puW0wMs4+ydgh1tj/wwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTEzNDczMFoYDzIxMjYxMDI4
MTM0NzMwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAT03wrN2/E4qA8sULQ+bfm3JCVTIujzeyUc6+5l6SDugZT5/ut4N194
PL+K+nLk+ELAK0uYveseljlEELR3S6pSo28wbTAdBgNVHQ4EFgQUrk+4OSiv0vtp
VSJp5lPmnOB2Xn4wHwYDVR0jBBgwFoAUrk+4OSiv0vtpVSJp5lPmnOB2Xn4wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAJU5uBzRYkffTm0OJmJGhLCE66hmpsd5IYiGDCuHYoTBAiBG
MT9BGebiWqj+4FCGgodvYjjbKTPBdO6bYZmHfNZd8g==
-----END CERTIFICATE-----
`;
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1vnOmveordGZtUmM
TGG6IG1mYhwQx49LmGvh+GvarnahRANCAAT03wrN2/E4qA8sULQ+bfm3JCVTIujz
eyUc6+5l6SDugZT5/ut4N194PL+K+nLk+ELAK0uYveseljlEELR3S6pS
-----END PRIVATE KEY-----
`;

export const MAIL_USER = { username: "svc", password: "the-right-password" };

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Whether it came over TLS. */
  secure: boolean;
  /** Headers and body as received (RFC 5322). */
  source: string;
  /** The words of its text part. */
  text: string;
}

export interface MailServer extends AsyncDisposable {
  port: number;
  received: ReceivedMail[];
}

export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    key: KEY,
    cert: CERTIFICATE,
    onAuth({ username, password }, _session, answer) {
      const right = username === MAIL_USER.username && password === MAIL_USER.password;
      if (right) answer(null, { user: username });
      else answer(new Error("no such user"));
    },
    onRcptTo({ address }, _session, answer) {
      answer(address.startsWith("nobody@") ? new Error("no such mailbox") : null);
    },
    onData(stream, { envelope, secure }, done) {
      const pieces: Buffer[] = [];
      stream.on("data", (piece: Buffer) => pieces.push(piece));
      stream.on("end", () => {
        const source = Buffer.concat(pieces).toString();
        received.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : "",
          to: envelope.rcptTo.map(({ address }) => address),
          secure,
          source,
          text: textPart(source),
        });
        done();
      });
    },
    ...options,
  });
  // Rejected clients disconnect, which they report themselves.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as { port: number }).port,
    received,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** A server without TLS and login, as most tests of mail need. */
export function startPlainMailServer(): Promise<MailServer> {
  return startMailServer({ disabledCommands: ["STARTTLS"], authOptional: true });
}

/** The setting `smtp_settings` for a plain server. */
export function plainSettings({ port }: MailServer) {
  return { smtp_host: "127.0.0.1", smtp_port: port, smtp_from: "svc@example.org", smtp_disable_tls: true };
}

function textPart(source: string): string {
  const part = source.split("Content-Type: text/plain")[1] ?? "";
  const body = part.slice(part.indexOf("\r\n\r\n") + 4).split("\r\n--")[0]!;
  return /quoted-printable/.test(part.slice(0, 200))
    ? body
        .replace(/=\r\n/g, "")
        .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : body;
}
