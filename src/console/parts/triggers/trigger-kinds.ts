/** Names of the triggers that start runs, except schedules, by the API's names. Each follows the word "by". */
export const TRIGGER_KINDS: Record<string, string> = {
  http: "an HTTP route",
  websocket: "a WebSocket",
  deploy: "a deployment",
  error_handler: "a failed run",
  chat: "a command in a chat",
};
