/** Templates of new flows. Each runs unchanged. */
import { WATCH, WEBHOOK } from "./calls.ts";
import { createInputSchema, type Template } from "./template.ts";
import { APPROVAL, FAN_OUT, REPORT } from "./work.ts";

const EMPTY: Template = {
  id: "empty",
  label: "Nothing",
  about: "An empty flow",
  flow: { summary: "", description: "", schema: createInputSchema({}), value: { modules: [] } },
};

export const TEMPLATES: Template[] = [EMPTY, WEBHOOK, REPORT, APPROVAL, FAN_OUT, WATCH];
