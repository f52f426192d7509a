/** Messages that a WebSocket trigger sends when it connects, as edited in the form. */
import { expect, test } from "bun:test";
import { type Message, toMessages, toRows } from "../../src/console/pages/triggers/sockets/MessagesInput.tsx";

test("messages keep lines and order, and those of scripts; empty new ones are dropped", () => {
  const before: Message[] = [
    { raw_message: "line one\nline two\n" },
    { runnable_result: { path: "f/a/token", args: {}, is_flow: false } },
    { raw_message: "" },
    { raw_message: "last" },
  ];
  const rows = toRows(before);
  expect(toMessages(rows, before)).toEqual(before);
  const added = [
    ...rows,
    { id: 4, message: { raw_message: "" } },
    { id: 5, message: { raw_message: "new" } },
  ];
  expect(toMessages(added, before)).toEqual([...before, { raw_message: "new" }]);
});
