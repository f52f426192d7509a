// A streaming webhook: what main yields reaches the caller as it is made.
export async function* main(from = 3) {
  for (let n = from; n > 0; n--) {
    yield `${n}… `;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  yield "lift-off";
}
