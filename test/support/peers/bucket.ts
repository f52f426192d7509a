/** A bucket: a service with S3's interface on loopback, with its data in a temporary folder. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { until } from "../harness.ts";

export interface Bucket extends AsyncDisposable {
  /** The value of a resource of type `s3`. */
  resource: Record<string, unknown>;
  /** Parts of uploads that were neither completed nor aborted. */
  unfinished: () => string[];
  stop: () => Promise<void>;
}

/** It responds before all bytes are in its files: this makes it wait for them. */
function waitForBytes(): void {
  const { prototype } = require("s3rver/lib/stores/filesystem");
  const { putObject, putPart } = prototype;
  const whole = (path: string, size: number) => until(() => statSync(path).size === size || undefined, path);
  prototype.putObject = async function (object: { bucket: string; key: string }) {
    const stored = await putObject.call(this, object);
    await whole(this.getResourcePath(object.bucket, object.key, "object"), stored.size);
    return stored;
  };
  prototype.putPart = async function (bucket: string, id: string, part: number, content: unknown) {
    const stored = await putPart.call(this, bucket, id, part, content);
    await whole(join(this.getResourcePath(bucket, undefined, "uploads"), id, String(part)), stored.size);
    return stored;
  };
}

/**
 * It encrypts the tokens of longer lists with single DES, which no crypto library has any more; any other
 * cipher works.
 */
function sealOtherwise(): void {
  const crypto = require("node:crypto");
  const { createCipheriv } = crypto;
  const other = () => createCipheriv("aes-128-cbc", Buffer.alloc(16), Buffer.alloc(16));
  crypto.createCipheriv = (name: string, ...rest: unknown[]) =>
    name === "des" ? other() : createCipheriv(name, ...rest);
}

/** It lacks copies of parts (UploadPartCopy), and decodes less of the copied object's name than S3 does. */
function copyParts(service: { middleware: unknown[]; store: unknown }): void {
  service.middleware.unshift(async (ctx: any, next: () => Promise<void>) => {
    const source = ctx.get("x-amz-copy-source");
    if (source) ctx.req.headers["x-amz-copy-source"] = encodeURI(decodeURIComponent(source));
    if (ctx.method !== "PUT" || !source || !ctx.query.uploadId) return next();
    const [bucket, ...key] = decodeURIComponent(source).slice(1).split("/");
    const [start, end] = ctx.get("x-amz-copy-source-range").slice("bytes=".length).split("-").map(Number);
    const { content } = await ctx.app.store.getObject(bucket, key.join("/"), { start, end });
    const { uploadId, partNumber } = ctx.query;
    const { md5 } = await ctx.app.store.putPart(bucket, uploadId, partNumber, content);
    ctx.type = "application/xml";
    ctx.body = `<CopyPartResult><ETag>&quot;${md5}&quot;</ETag></CopyPartResult>`;
  });
}

let repaired = false;

export async function startBucket(): Promise<Bucket> {
  if (!repaired) {
    waitForBytes();
    sealOtherwise();
    repaired = true;
  }
  const S3rver = require("s3rver");
  // On a disk, whose folders are listed in the order of creation: S3 lists by name, this service as the folder
  // does.
  const directory = mkdtempSync("/tmp/svc-bucket-");
  const bucket = "files";
  const service = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket }],
  });
  copyParts(service);
  const { port } = await service.run();
  const stop = async () => {
    await service.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return {
    resource: {
      bucket,
      region: "us-east-1",
      endPoint: `127.0.0.1:${port}`,
      useSSL: false,
      accessKey: "S3RVER",
      secretKey: "S3RVER",
      pathStyle: true,
    },
    unfinished: () => {
      const folder = join(directory, bucket, "._S3rver_uploads");
      return readdirSync(join(directory, bucket)).includes("._S3rver_uploads") ? readdirSync(folder) : [];
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
