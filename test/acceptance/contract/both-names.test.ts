/** Routes named after a product run the same operation as those that the contract names after the kind. */
import { expect, test } from "bun:test";
import { operations } from "../../../src/server/features.ts";

const at = (way: string) => operations.find(({ method, path }) => `${method} ${path}` === way);

test.each([
  ["POST /w/{workspace}/workspaces/edit_chat_command", "edit_slack_command"],
  ["POST /w/{workspace}/workspaces/run_chat_message_test_job", "run_slack_message_test_job"],
  ["GET /oauth/connect_chat", "connect_slack"],
  ["POST /oauth/connect_chat_callback", "connect_slack_callback"],
  ["POST /w/{workspace}/oauth/connect_chat_callback", "connect_slack_callback"],
  ["POST /w/{workspace}/oauth/disconnect_chat", "disconnect_slack"],
  ["POST /oauth/chat_command", "slack"],
])("%s is %s too", (way, also) => {
  const known = at(way)!;
  expect(at(way.replace(/[^/]+$/, also))).toEqual({
    ...known,
    name: expect.any(String),
    path: known.path.replace(/[^/]+$/, also),
  });
});

test.each(["p/{path}", "f/{path}"])("ai_sync/%s is openai_sync/%s too", (target) => {
  const base = "POST /w/{workspace}/jobs";
  const [known, same] = [at(`${base}/ai_sync/${target}`)!, at(`${base}/openai_sync/${target}`)!];
  expect(same).toEqual({ ...known, name: same.name, path: same.path });
});
