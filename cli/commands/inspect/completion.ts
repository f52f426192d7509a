import { Argument } from "commander";
import { createCommand, formatExamples } from "../../program/command.ts";
import { printJson } from "../../terminal/text/output.ts";
import { getShellScript, SHELLS, type Shell } from "./completion/shell-scripts.ts";

export default createCommand("completion", "print the completion script for a shell", "nothing")
  .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
  .addHelpText(
    "after",
    `${formatExamples(
      'eval "$(svc completion bash)"   # in ~/.bashrc',
      'eval "$(svc completion zsh)"    # in ~/.zshrc, after compinit',
      "svc completion fish > ~/.config/fish/completions/svc.fish",
    )}

Commands and options are completed, and of a server that is up workspaces and
the paths of scripts, flows, variables and the like.`,
  )
  .action((shell: Shell, options: { json?: boolean }) => {
    if (options.json) printJson({ shell, script: getShellScript(shell) });
    else process.stdout.write(getShellScript(shell));
  });
