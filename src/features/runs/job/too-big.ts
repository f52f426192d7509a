/** Replaces arguments and results that are too large; existing clients recognise this text. */
export const TOO_BIG_PLACEHOLDER = "WINDMILL_TOO_BIG";
