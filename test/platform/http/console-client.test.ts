import { expect, test } from "bun:test";
import { join } from "node:path";
import { describeApi } from "../../../src/platform/http/openapi/openapi.ts";
import { API_TAG_ALIASES, API_TAGS } from "../../../src/server/api-tags.ts";
import { generateClientTypes } from "../../../src/server/console/client-types.ts";
import { operations } from "../../../src/server/features.ts";

test("the generated client of the console matches the interface: else `bun run console:client`", async () => {
  const document = await describeApi(operations, { descriptions: API_TAGS, aliases: API_TAG_ALIASES });
  const file = Bun.file(join(import.meta.dir, "../../../src/console/api/interface.d.ts"));
  expect((await file.text()) === generateClientTypes(document)).toBe(true);
});
