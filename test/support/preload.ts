/** What holds for every test file: how long a test may take before it counts as hanging. */
import { setDefaultTimeout } from "bun:test";

setDefaultTimeout(60_000);
