// The smallest script: the arguments of a call become main's parameters, by name.
export function main(name: string, greeting = "Hello") {
  return { message: `${greeting}, ${name}!` };
}
