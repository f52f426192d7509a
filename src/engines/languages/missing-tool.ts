/** What is said of programs that scripts need and that the server does not have. */

/** What to install for languages whose programs are not in the table of programs. */
export const INSTALL_PYTHON = "install Python 3.8 or newer (Debian: python3)";
export const INSTALL_BASH = "install bash";
/** Either of them installs the packages of Python scripts. */
export const INSTALL_PIP = "install uv, or pip (Debian: python3-pip)";

/** @param install what to install, in the form of the constants above */
export const describeMissingTool = (tool: string, install: string): string =>
  `${tool} is not installed on this server: ${install}`;

export const MISSING_PIP = `neither uv nor pip is installed on this server: ${INSTALL_PIP}`;
