/** Encrypted arguments that are numbers, such as a PIN, are masked too. */
import { expect, test } from "bun:test";
import { expectOk } from "../../../support/harness.ts";
import { ask, deployNew, run, setUpSecrets } from "./secrets-setup.ts";

setUpSecrets();

test.each(["48151623", "481516234281516234"])(
  "an encrypted argument of digits is masked: %s",
  async (digits) => {
    const sealed = (await expectOk(ask("POST", "/w/acme/variables/encrypt", JSON.stringify(digits)))).text;
    const path = await deployNew(
      "export const main = (x: unknown) => { console.log('pin ' + x); throw new Error(`bad ${x}`); }",
    );
    const { result, log } = await run(path, { x: `$encrypted:${sealed}` });
    expect(log).not.toContain(digits.slice(0, 8));
    expect(log).toContain("pin *****");
    expect(JSON.stringify(result)).not.toContain(digits.slice(0, 8));
  },
);
