/** Peers that reject, disconnect or send too much, and how triggers report it. */
import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { parseTargets } from "../../../../src/platform/outgoing/targets.ts";
import { openWebsocket } from "../../../../src/platform/outgoing/websocket.ts";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import {
  ask,
  base,
  create,
  createTriggerBody,
  deleteTrigger,
  errorOf,
  get,
  ran,
  runsOf,
  server,
  setUpSockets,
  startPeer,
} from "./websocket-setup.ts";

setUpSockets();

describe.concurrent("an error", () => {
  test("is shown on the trigger, retried, and cleared after a success", async () => {
    using peer = startPeer({ refuse: 2 });
    const path = await create({ url: `${peer.url}?key=secret` });
    expect(await errorOf(path)).toBe("127.0.0.1: it answered 503, and opened no WebSocket");
    await peer.connected();
    await until(async () => ((await get(path)).error ? undefined : true), "no error any more");
    for (const socket of peer.open) socket.close(4000, "bye");
    expect(await errorOf(path)).toBe("127.0.0.1 closed the connection (4000: bye)");
    await peer.connected();
    peer.send("again");
    await ran(path);
    await deleteTrigger(path);
  }, 60_000);

  test.each([
    ["a port nobody listens on", "ws://127.0.0.1:9/", "127.0.0.1: the connection was refused"],
    ["this machine by another address", "ws://127.0.0.2:9/", "has not allowed as a target"],
    ["this machine in IPv6", "ws://[::1]:9/", "has not allowed as a target"],
    ["a cloud's metadata", "ws://169.254.169.254/latest", "has not allowed as a target"],
  ])("%s is rejected as a target", async (_, url, says) => {
    const path = await create({ url });
    expect(await errorOf(path)).toContain(says);
    await deleteTrigger(path);
  });

  test("a URL from a script is checked as any other", async () => {
    const path = await create({ url: "$script:u/admin/where", url_runnable_args: { at: "ws://10.0.0.1/" } });
    expect(await errorOf(path)).toContain("has not allowed as a target");
    await deleteTrigger(path);
  });

  test("a message that cannot start a job is reported, and the next one is processed", async () => {
    using peer = startPeer();
    await deploy(ask, "acme", "u/admin/going", "export const main = () => 1");
    const path = await create({ url: peer.url, script_path: "u/admin/going" });
    await peer.connected();
    await expectOk(ask("POST", "/w/acme/scripts/archive/p/u/admin/going"));
    peer.send("x");
    expect(await errorOf(path)).toContain("u/admin/going");
    await deploy(ask, "acme", "u/admin/going", "export const main = () => 2");
    peer.send("y");
    await ran(path);
    await until(async () => ((await get(path)).error ? undefined : true), "no error any more");
    await deleteTrigger(path);
  });

  test("no connection is made for a member who has left", async () => {
    using peer = startPeer();
    const cid = await server.member("acme", "cid");
    const path = "u/cid/ws";
    await deploy(cid.ask, "acme", "u/cid/say", "export const main = (msg: string) => msg");
    await expectOk(
      cid.ask("POST", `${base}/create`, createTriggerBody({ path, script_path: "u/cid/say", url: peer.url })),
    );
    await peer.connected();
    await expectOk(ask("DELETE", "/w/acme/users/delete/cid"));
    peer.send("x");
    expect(await errorOf(path)).toContain("not an active member");
    for (const socket of peer.open) socket.close();
    await until(
      async () => ((await get(path)).error.includes("not an active member") ? true : undefined),
      "the error",
    );
    expect(await runsOf(path)).toEqual([]);
    await deleteTrigger(path);
  });
});

describe.concurrent("a connection to a peer", () => {
  const asked = {
    targets: parseTargets("127.0.0.1,localhost"),
    timeout_ms: 2_000,
    max_message_bytes: 1_000,
    ping_ms: 500,
  };

  test("sends the Host header, and rejects messages that are too long", async () => {
    using peer = startPeer();
    const got: string[] = [];
    const url = peer.url.replace("127.0.0.1", "localhost");
    const socket = await openWebsocket({ ...asked, url, onMessage: (text) => got.push(text) });
    expect(peer.hosts).toEqual([new URL(url).host]);
    peer.send("x".repeat(1_000));
    await until(() => (got.length === 1 ? true : undefined), "the message");
    peer.send("x".repeat(1_001));
    expect(await socket.ended).toContain("1001 bytes");
    expect(got).toHaveLength(1);
  });

  test("stays open while the peer answers pings, and ends when it no longer does", async () => {
    using peer = startPeer();
    const socket = await openWebsocket({ ...asked, url: peer.url, onMessage: () => {} });
    const first = await Promise.race([socket.ended, Bun.sleep(2_500).then(() => "open")]);
    expect(first).toBe("open");
    socket.close();
    await socket.ended;

    const silent = createServer((stream) => {
      stream.on("error", () => {});
      stream.once("data", (head) => {
        const key = /sec-websocket-key: (\S+)/i.exec(String(head))![1];
        const accept = new Bun.CryptoHasher("sha1")
          .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
          .digest("base64");
        stream.write(
          `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
        );
      });
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const dead = await openWebsocket({ ...asked, url: `ws://127.0.0.1:${port}/`, onMessage: () => {} });
    expect(await dead.ended).toContain("no sign of life");
    silent.close();
  }, 60_000);
});
