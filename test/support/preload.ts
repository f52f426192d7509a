/**
 * Runs before the tests of a process. Passwords are hashed at the lowest cost: the server's 19 MiB per hash
 * took a third of the processor time of tests that create users. Tests of the executable hash as a server does.
 */
const hash = Bun.password.hash.bind(Bun.password);
Bun.password.hash = (password) => hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
