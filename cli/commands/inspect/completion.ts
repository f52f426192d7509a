import { Argument } from "commander";
import { examples, leaf } from "../../program/command.ts";
import { printJson } from "../../terminal/text/output.ts";
import { SHELLS, type Shell, scriptFor } from "./completion/scripts.ts";

export default leaf("completion", "print the completion script for a shell", "nothing")
  .addArgument(new Argument("<shell>", "which one").choices(SHELLS))
  .addHelpText(
    "after",
    `${examples(
      'eval "$(svc completion bash)"                      # in ~/.bashrc',
      'eval "$(svc completion zsh)"                       # in ~/.zshrc',
      "svc completion fish > ~/.config/fish/completions/svc.fish",
    )}

Commands and options are completed, and of a server that is up workspaces and
the paths of scripts, flows, variables and the like.`,
  )
  .action((shell: Shell, options: { json?: boolean }) => {
    if (options.json) printJson({ shell, script: scriptFor(shell) });
    else process.stdout.write(scriptFor(shell));
  });
