/** A separate network for some processes, as on another machine: one link to this one, which can be cut. */
const run = (...words: string[]) => {
  const { exitCode, stderr } = Bun.spawnSync(["ip", ...words], { stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`ip ${words.join(" ")}: ${stderr.toString().trim()}`);
};

export interface Namespace extends Disposable {
  /** Words before a command that run it there. */
  under: string[];
  /** Address of this machine, as seen from there. */
  address: string;
  /** Address of the other end of the link. */
  own: string;
  /** Addresses of the namespace. */
  network: string;
  cut(): void;
  mend(): void;
}

/** Why none can be created here; undefined if one can. */
export function whyNoNamespaces(): string | undefined {
  if (process.platform !== "linux") return "network namespaces are Linux's";
  if (Bun.which("ip") === null) return "there is no program `ip` (iproute2)";
  const name = `svc-try-${process.pid}`;
  try {
    run("netns", "add", name);
    run("netns", "delete", name);
    return undefined;
  } catch (cause) {
    return `no namespaces can be made: ${(cause as Error).message}`;
  }
}

let made = 0;

/** @throws if it is not permitted */
export function createNamespace(): Namespace {
  const n = ++made;
  const name = `svc-${process.pid}-${n}`;
  // Names of interfaces have at most 15 characters.
  const [here, there] = [`svc${process.pid % 100_000}h${n}`, `svc${process.pid % 100_000}t${n}`];
  const net = `10.213.${process.pid % 250}`;
  const [address, own] = [`${net}.${n * 4 + 1}`, `${net}.${n * 4 + 2}`];
  const remove = () => {
    Bun.spawnSync(["ip", "link", "delete", here]);
    Bun.spawnSync(["ip", "netns", "delete", name]);
  };
  try {
    run("netns", "add", name);
    run("link", "add", here, "type", "veth", "peer", "name", there, "netns", name);
    run("address", "add", `${address}/30`, "dev", here);
    run("link", "set", here, "up");
    run("-n", name, "address", "add", `${own}/30`, "dev", there);
    run("-n", name, "link", "set", there, "up");
    run("-n", name, "link", "set", "lo", "up");
  } catch (cause) {
    remove();
    throw cause;
  }
  return {
    under: ["ip", "netns", "exec", name],
    address,
    own,
    network: `${net}.${n * 4}/30`,
    cut: () => run("link", "set", here, "down"),
    mend: () => run("link", "set", here, "up"),
    [Symbol.dispose]: remove,
  };
}
