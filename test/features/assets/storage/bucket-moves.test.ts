/** A file in a bucket is moved there, whatever its size, and keeps its metadata. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ObjectStore } from "../../../../src/features/assets/storage/object-store.ts";
import { createS3Store } from "../../../../src/features/assets/storage/stores/s3-store.ts";
import { S3Resource } from "../../../../src/features/tenancy/workspaces/storage-records.ts";
import { type Bucket, startBucket } from "../../../support/peers/bucket.ts";

let bucket: Bucket;
beforeAll(async () => {
  bucket = await startBucket();
});
afterAll(() => bucket.stop());

/** @param copy_bytes maximum size of one copy call */
const store = (copy_bytes: number): ObjectStore =>
  createS3Store(S3Resource.parse(bucket.resource), { allows: () => true }, copy_bytes);

async function* pieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
}

test.each([
  ["in one call", 1_000_000],
  ["in parts", 100_001],
  ["in equal parts", 150_000],
])("%s", async (_, copy_bytes) => {
  const files = store(copy_bytes);
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7) & 255));
  const wishes = { content_type: "text/x-thing", content_disposition: "inline; filename=it" };
  await files.put("from here/a+b & (c).bin", pieces(bytes), wishes);
  await files.put("to/there.bin", pieces(Buffer.from("what was there")));
  await files.move("from here/a+b & (c).bin", "to/there.bin");
  const { info, read } = await files.get("to/there.bin");
  expect(info).toMatchObject({ size: 300_000, ...wishes });
  expect(Buffer.from(await new Response(await read()).arrayBuffer()).equals(bytes)).toBe(true);
  const { keys } = await files.list({ prefix: "", marker: undefined, max_keys: 10 });
  expect([keys, bucket.unfinished()]).toEqual([["to/there.bin"], []]);
});
