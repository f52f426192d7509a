import { toPathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { websocketTriggerSection } from "./archive.ts";
import { createWebsocketListener } from "./listener/websocket-listener.ts";
import { websocketTriggerOperations } from "./operations.ts";
import { restartListening } from "./service.ts";
import { websocketTriggers } from "./tables.ts";

export const feature = defineFeature({
  folder: "triggers/websocket",
  operations: {
    "operations.ts": websocketTriggerOperations,
  },
  itemKinds: [{ kind: "websocket_trigger", table: toPathTable(websocketTriggers, "extra_perms") }],
  pathColumns: [
    { column: websocketTriggers.script_path },
    { column: websocketTriggers.url, prefixes: ["$script:", "$flow:"] },
  ],
  usernameColumns: [websocketTriggers.edited_by],
  mentioningJson: [
    { column: websocketTriggers.url_runnable_args, key: websocketTriggers.path, form: "references" },
    { column: websocketTriggers.initial_messages, key: websocketTriggers.path, form: "flow" },
  ],
  on: { userRenamed: restartListening },
  loops: [{ name: "websocket listener", roles: ["all"], create: createWebsocketListener }],
  encryptedColumns: [
    {
      columns: [websocketTriggers.url_runnable_args, websocketTriggers.initial_messages],
      key: [websocketTriggers.path],
      email: websocketTriggers.email,
    },
  ],
  archiveSections: [websocketTriggerSection],
  triggerCounts: [
    {
      table: toPathTable(websocketTriggers, "script_path", "is_flow"),
      count: "websocket_count",
      used: "websocket_used",
    },
  ],
});
