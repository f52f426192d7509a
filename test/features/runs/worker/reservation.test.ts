/** Room in the worker that is kept for jobs while they are stored. */
import { expect, test } from "bun:test";
import { createQueue } from "../../../../src/platform/queue/queue.ts";
import type { Job } from "../../../../src/platform/queue/tables.ts";

function queueFor(slots: number) {
  const taken: Job[] = [];
  let woken = 0;
  const queue = createQueue("here", { wake() {}, cancel() {} });
  queue.attach({
    room: () => slots - taken.length - queue.reserved(),
    take: (job) => void taken.push(job),
    wake: () => void woken++,
    has: () => false,
    cancel() {},
  });
  return { queue, taken, woken: () => woken };
}
const job = { id: "one" } as Job;

test("it is given back when it is not used, whatever went wrong, and once only", () => {
  const { queue, taken, woken } = queueFor(4);
  const failing = () => {
    using room = queue.reserve("bun", 3);
    expect([room.places, queue.reserved()]).toEqual([3, 3]);
    room.hand(job);
    expect([room.places, queue.reserved()]).toEqual([2, 2]);
    throw new Error("the disk is full");
  };
  expect(failing).toThrow("the disk is full");
  expect([queue.reserved(), taken.length, woken()]).toEqual([0, 1, 1]);
  const room = queue.reserve("bun", 9);
  expect(room.places).toBe(3);
  room[Symbol.dispose]();
  room[Symbol.dispose]();
  expect([queue.reserved(), woken()]).toEqual([0, 2]);
});

test("there is none where there is no worker, or no slot", () => {
  expect(createQueue("here", { wake() {}, cancel() {} }).reserve("bun").places).toBe(0);
  const { queue } = queueFor(1);
  using first = queue.reserve("bun");
  using second = queue.reserve("bun");
  expect([first.places, second.places, queue.reserved()]).toEqual([1, 0, 1]);
});
