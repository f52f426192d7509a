/** What starts runs, apart from schedules, by the API's names: as it reads after "by". */
export const TRIGGER_KINDS: Record<string, string> = {
  http: "an HTTP route",
  websocket: "a WebSocket",
  deploy: "a deployment",
  error_handler: "a failed run",
  chat: "a command in a chat",
};
