/** The server opens connections to other hosts only in the guarded folder, also through libraries. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const SOURCES = join(import.meta.dir, "../../../src");

/** Functions and modules that open connections. */
const OPENS = [
  /(?<![.\w])fetch\((?!request\b)/,
  /\bnew (WebSocket|EventSource|SQL|S3Client|RedisClient)\(/,
  /\bBun\.(connect|udpSocket|sql|s3|redis)\(/,
  /\b(createConnection|net\.connect|tls\.connect|createRemoteJWKSet|discoveryRequest)\(/,
  /(from |import\()"(node:(http|https|http2|dgram|dns|dns\/promises)|nodemailer|undici|pg|mysql2)"/,
];

/** Outside of `platform/outgoing/`, each with how it is guarded. */
const GUARDED: Record<string, string> = {
  "engines/runner/process/channel.ts": "takes over a descriptor, to no host",
  "features/signals/mail/send.ts": "connects to addresses of `resolveAllowedAddresses`",
  "features/assets/connections/provider-http.ts": "gives the library `sendRequest` as its fetch",
  "features/triggers/chat/test-message.ts": "text of a script, which runs in the sandbox",
};

/** Code of the browser, and of script processes, which the sandbox confines. */
const ELSEWHERE = /^(console|engines\/runner\/child|platform\/outgoing)\//;

test("only the guard's files open connections", async () => {
  const found: string[] = [];
  for await (const file of new Bun.Glob("**/*.{ts,tsx}").scan(SOURCES)) {
    if (ELSEWHERE.test(file)) continue;
    const text = await Bun.file(join(SOURCES, file)).text();
    const code = text.replace(/^import type .*$/gm, "");
    if (OPENS.some((sign) => sign.test(code))) found.push(file);
  }
  expect(found.sort()).toEqual(Object.keys(GUARDED).sort());
});
