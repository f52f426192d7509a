/**
 * A real MariaDB (or MySQL) of the machine, if installed (`apt-get install mariadb-server`), on a free port of
 * loopback, with its data in a temporary folder.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { until } from "../harness.ts";
import { CERTIFICATE, KEY } from "./mail-server.ts";
import { freePort } from "./postgres-server.ts";

export const MYSQL_PASSWORD = "open-sesame-4711";

/** Folders in which packages install server programs; an ordinary user's PATH lacks them. */
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin:/usr/libexec`;
const which = (...names: string[]) =>
  names.map((name) => Bun.which(name, { PATH })).find(Boolean) ?? undefined;

const server = which("mariadbd", "mysqld");

/** Why none is available; undefined if one is. */
export const noMysql = server ? undefined : "neither mariadbd nor mysqld is on this machine";

export interface MysqlServer {
  port: number;
  /** A client with all privileges. */
  direct: SQL;
  stop(): Promise<void>;
}

/** A server whose user `root` has MYSQL_PASSWORD, with an empty database `shop`. */
export async function startMysql(options: { tls: boolean }): Promise<MysqlServer> {
  const folder = mkdtempSync(join(tmpdir(), "svc-mysql-"));
  const data = `--datadir=${join(folder, "data")}`;
  // It runs as root only if told to.
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  const install = which("mariadb-install-db");
  const fill = install
    ? [install, "--no-defaults", data, ...user, "--auth-root-authentication-method=normal", "--skip-test-db"]
    : [server!, "--no-defaults", data, ...user, "--initialize-insecure"];
  const filled = Bun.spawnSync(fill, { stdout: "pipe", stderr: "pipe" });
  if (!filled.success) throw new Error(`${fill[0]} failed: ${filled.stdout}${filled.stderr}`);
  const port = await freePort();
  const pem = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return `--ssl-${name}=${join(folder, name)}`;
  };
  const tls = options.tls ? [pem("cert", CERTIFICATE), pem("key", KEY)] : ["--skip-ssl"];
  const at = [`--port=${port}`, "--bind-address=127.0.0.1", `--socket=${join(folder, "socket")}`];
  // Without durability, because crashes of the database server are not tested.
  const own = [
    ...tls,
    "--skip-log-bin",
    "--innodb-flush-log-at-trx-commit=0",
    `--pid-file=${join(folder, "pid")}`,
  ];
  const running = Bun.spawn([server!, "--no-defaults", data, ...user, ...at, ...own], {
    stdio: ["ignore", "ignore", Bun.file(join(folder, "log"))],
  });
  const connect = (password: string, database: string) =>
    new SQL({ url: `mysql://root:${password}@127.0.0.1:${port}/${database}`, max: 1 });
  const stop = async () => {
    running.kill("SIGKILL");
    await running.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until(async () => {
      if (running.exitCode !== null) throw new Error(await Bun.file(join(folder, "log")).text());
      const first = connect("", "mysql");
      try {
        await first.unsafe("CREATE DATABASE shop CHARACTER SET utf8mb4");
        await first.unsafe(`ALTER USER root@localhost IDENTIFIED BY '${MYSQL_PASSWORD}'`);
        return true;
      } catch (cause) {
        if (/CONNECTION|refused|connect/i.test(String(cause))) return undefined;
        throw cause;
      } finally {
        await first.close();
      }
    }, "MySQL");
  } catch (cause) {
    await stop();
    throw cause;
  }
  const direct = connect(MYSQL_PASSWORD, "shop");
  return {
    port,
    direct,
    async stop() {
      await direct.close();
      await stop();
    },
  };
}
