/** `bun run console:client`: generates the types of the console's API calls from the OpenAPI description. */
import { describeApi } from "../src/platform/http/openapi/openapi.ts";
import { API_TAG_ALIASES, API_TAGS } from "../src/server/api-tags.ts";
import { generateClientTypes } from "../src/server/console/client-types.ts";
import { operations } from "../src/server/features.ts";

const document = await describeApi(operations, { descriptions: API_TAGS, aliases: API_TAG_ALIASES });
await Bun.write(`${import.meta.dir}/../src/console/api/interface.d.ts`, generateClientTypes(document));
