import { readFileSync, writeFileSync } from "node:fs";
import { createRandomText } from "../../../src/lib/text/ids.ts";
import { getGlobalSetting } from "../../client/operations/instance.ts";
import {
  type CommonOptions,
  createCommand,
  createNoun,
  formatExamples,
  withClient,
} from "../../program/command.ts";
import { parseWholeNumber } from "../../program/options.ts";
import { CliError, createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote } from "../../terminal/text/output.ts";

const PRIVATE_KEY_FILE = "license-private.pem";
const DAY_MS = 86_400_000;
/** Validity of a license in days, if none is given. */
const DEFAULT_DAYS = 365;
const MAX_DAYS = 36_500;

const keygen = createCommand("keygen", "create the key pair that signs and verifies licenses", "nothing")
  .option("--out <file>", `file for the private key (default ${PRIVATE_KEY_FILE}), which must not exist yet`)
  .addHelpText(
    "after",
    `${formatExamples("svc license keygen", "SVC_LICENSE_PUBLIC_KEY=<public key> svc serve")}

Keep the private key with the issuer of licenses. Instances trust the public
key in SVC_LICENSE_PUBLIC_KEY, or in the setting license_public_key.`,
  )
  .action(async ({ out = PRIVATE_KEY_FILE, json }: { out?: string; json?: boolean }) => {
    const { createKeyPair } = await import("../../../src/features/tenancy/license/signed-license.ts");
    const { private_pem, public_key } = await createKeyPair();
    writeNewFile(out, private_pem);
    if (json) return printJson({ private_key_file: out, public_key });
    printNote(`the private key is in ${out}: keep it to yourself`);
    print(public_key);
  });

/** Writes a new file. @throws CliError instead of overwriting a key that licenses are signed with */
function writeNewFile(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new CliError("Exists", `${file} is there already`, { hint: "name another file with --out" });
  }
}

interface IssueOptions {
  customer?: string;
  key?: string;
  days?: string;
  id?: string;
  seats?: string;
  renewalUrl?: string;
  portalUrl?: string;
  json?: boolean;
}

const issue = createCommand("issue", "sign a license", "nothing")
  .option("--customer <name>", "who the license is for")
  .option("--key <file>", `file with the private key (default ${PRIVATE_KEY_FILE})`)
  .option("--days <number>", `days until it expires (default ${DEFAULT_DAYS})`)
  .option("--id <id>", "its id (default a random one)")
  .option("--seats <number>", "number of people it is for")
  .option("--renewal-url <url>", "where the instance asks for the next one")
  .option("--portal-url <url>", "where the customer manages it")
  .addHelpText("after", formatExamples('svc license issue --customer "Acme" --days 365 > acme.license'))
  .action(async (options: IssueOptions) => {
    if (!options.customer) throw createUsageError("--customer is missing: it says who the license is for");
    const days =
      options.days === undefined ? DEFAULT_DAYS : parseWholeNumber("--days", options.days, MAX_DAYS, 1);
    const now = new Date(Math.floor(Date.now() / 1000) * 1000);
    const license = {
      id: options.id ?? createRandomText(16),
      customer: options.customer,
      issued_at: now,
      expires_at: new Date(now.getTime() + days * DAY_MS),
      seats: options.seats === undefined ? undefined : parseWholeNumber("--seats", options.seats),
      renewal_url: parseUrl("--renewal-url", options.renewalUrl),
      portal_url: parseUrl("--portal-url", options.portalUrl),
    };
    const { signLicense } = await import("../../../src/features/tenancy/license/signed-license.ts");
    const license_key = await signLicense(license, readPrivateKey(options.key ?? PRIVATE_KEY_FILE));
    if (options.json) printJson({ ...license, license_key });
    else print(license_key);
  });

function parseUrl(flag: string, text: string | undefined): string | undefined {
  if (text === undefined || (/^https?:\/\//.test(text) && URL.canParse(text))) return text;
  throw createUsageError(`${flag} ${text}: must be a URL that begins with http:// or https://`);
}

function readPrivateKey(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliError("NoKey", `${file} cannot be read (${code})`, {
      hint: "svc license keygen makes a pair of keys; --key names the file of the private one",
    });
  }
}

const show = createCommand("show", "show the license of an instance, or one that is given")
  .argument("[key]", "a license; - reads it from stdin (default: the instance's)")
  .option("--public-key <key>", "check a given license with this key (env SVC_LICENSE_PUBLIC_KEY)")
  .addHelpText(
    "after",
    formatExamples("svc license show", "svc license show - --public-key <key> < acme.license"),
  )
  .action(async (given: string | undefined, options: CommonOptions & { publicKey?: string }) => {
    const found =
      given === undefined ? await readInstanceLicense(options) : await parseLicense(given, options);
    const { readLicense } = await import("../../../src/features/tenancy/license/signed-license.ts");
    const { describeLicense, computeLicenseState } = await import(
      "../../../src/features/tenancy/license/service.ts"
    );
    const license = await readLicense(found.license_key, found.public_key);
    const now = new Date();
    if (options.json) printJson({ ...license, state: computeLicenseState(license, now) });
    else print(describeLicense(license, now));
  });

interface ShownLicense {
  license_key: string;
  public_key: string | undefined;
}

async function parseLicense(given: string, { publicKey }: { publicKey?: string }): Promise<ShownLicense> {
  return {
    license_key: given === "-" ? await Bun.stdin.text() : given,
    public_key: publicKey ?? process.env.SVC_LICENSE_PUBLIC_KEY,
  };
}

async function readInstanceLicense(options: CommonOptions): Promise<ShownLicense> {
  return withClient(options, async (client) => {
    const license_key = await client.call(getGlobalSetting, { key: "license_key" });
    if (license_key === null) {
      throw new CliError("NoLicense", "the instance has no license", {
        hint: "svc config set license_key - < acme.license",
      });
    }
    const public_key = await client.call(getGlobalSetting, { key: "license_public_key" });
    return {
      license_key: String(license_key),
      public_key: public_key === null ? undefined : String(public_key),
    };
  });
}

export default createNoun(
  "license",
  "create and show Enterprise Edition licenses",
  keygen,
  issue,
  show,
).addHelpText("after", formatExamples("svc license keygen", "svc license show"));
