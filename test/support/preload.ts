/**
 * Runs before the tests of a process. Passwords are hashed at the lowest cost: a server hashes each with 19 MiB, which
 * was a third of the processor time of the tests that make users. The executable's tests hash as a server does.
 */
const hash = Bun.password.hash.bind(Bun.password);
Bun.password.hash = (password) => hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
