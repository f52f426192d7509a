// A streaming webhook: each value that main yields is sent to the caller immediately.
export async function* main(from = 3) {
  for (let n = from; n > 0; n--) {
    yield `${n}… `;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  yield "lift-off";
}
