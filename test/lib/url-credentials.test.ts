/** Users and passwords in the URLs of proxies and package sources. */
import { expect, test } from "bun:test";
import { removeUrlCredentials } from "../../src/lib/text/url-credentials.ts";

test.each([
  ["http://ann:word@host:80/at@home", "http://host:80/at@home"],
  ["ann:word@host:80", "host:80"],
  ["sparse+https://ann:a,b|c@d@host/index", "sparse+https://host/index"],
  ["https://ann:a@one,https://ann:b@two/x|direct", "https://one,https://two/x|direct"],
  ["/var/crates@1", "/var/crates@1"],
  ["https://host", "https://host"],
])("%s is passed on as %s", (given, passed) => {
  expect(removeUrlCredentials(given)).toBe(passed);
});
