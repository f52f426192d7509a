/** The folders of one child. */
export interface ChildFolders {
  /** Its own: where it is at home, and may write. */
  job: string;
  /** Its source. */
  code: string;
  /** Beside these. */
  reach: Reach;
}

/** What a child is let at beside its own folders, which is settled when it is started. */
export interface Reach {
  /** What it shares with the other jobs of its flow. */
  shared?: string | undefined;
  /** Where its interpreter keeps its library. */
  read?: string[] | undefined;
}
