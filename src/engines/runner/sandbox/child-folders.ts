/** Folders of one child. */
export interface ChildFolders {
  /** Its working folder, which it may write. */
  job: string;
  /** Folder of its source. */
  code: string;
  /** Further folders that it may access. */
  access: FolderAccess;
}

/** Folders a child may access beside its own, fixed at its start. */
export interface FolderAccess {
  /** Folder shared with the other jobs of its flow. */
  shared?: string | undefined;
  /** Library folders of its interpreter, and what else a tool reads: folders or single files. */
  read?: string[] | undefined;
}
