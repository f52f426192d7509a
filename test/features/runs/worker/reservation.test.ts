/** Room in the worker that is kept for jobs while they are stored. */
import { expect, test } from "bun:test";
import { createQueue } from "../../../../src/platform/queue/queue.ts";
import type { Job } from "../../../../src/platform/queue/tables.ts";

function queueFor(slots: number) {
  const taken: Job[] = [];
  let woken = 0;
  const queue = createQueue("here", { wake() {}, cancel() {} });
  queue.attachWorker({
    freeSlots: () => slots - taken.length - queue.reservedSlots(),
    accept: (job) => void taken.push(job),
    wake: () => void woken++,
    has: () => false,
    cancel() {},
  });
  return { queue, taken, woken: () => woken };
}
const job = { id: "one" } as Job;

test("unused slots of a reservation are released once, also after an error", () => {
  const { queue, taken, woken } = queueFor(4);
  const failing = () => {
    using room = queue.reserve("bun", 3);
    expect([room.slots, queue.reservedSlots()]).toEqual([3, 3]);
    room.dispatch(job);
    expect([room.slots, queue.reservedSlots()]).toEqual([2, 2]);
    throw new Error("the disk is full");
  };
  expect(failing).toThrow("the disk is full");
  expect([queue.reservedSlots(), taken.length, woken()]).toEqual([0, 1, 1]);
  const room = queue.reserve("bun", 9);
  expect(room.slots).toBe(3);
  room[Symbol.dispose]();
  room[Symbol.dispose]();
  expect([queue.reservedSlots(), woken()]).toEqual([0, 2]);
});

test("without a worker or a free slot nothing is reserved", () => {
  expect(createQueue("here", { wake() {}, cancel() {} }).reserve("bun").slots).toBe(0);
  const { queue } = queueFor(1);
  using first = queue.reserve("bun");
  using second = queue.reserve("bun");
  expect([first.slots, second.slots, queue.reservedSlots()]).toEqual([1, 0, 1]);
});
