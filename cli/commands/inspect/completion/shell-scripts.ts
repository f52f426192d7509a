/** Shell scripts that call `svc __complete`. If it prints nothing, the shell completes file names. */

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

const BASH = `# bash completion of svc
_svc_complete() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _svc_complete svc
`;

const ZSH = `#compdef svc
# zsh completion of svc
_svc() {
  local line text meaning
  local -a found
  for line in "\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    text=\${line%%$'\\t'*}
    meaning=\${line#*$'\\t'}
    found+=("\${text//:/\\\\:}:$meaning")
  done
  if (( \${#found} )); then
    _describe -V 'svc' found
  else
    _files
  fi
}
if [[ $funcstack[1] == _svc ]]; then
  _svc "$@"
else
  compdef _svc svc
fi
`;

const FISH = `# fish completion of svc
function __svc_ask
    set -l words (commandline -opc) (commandline -ct)
    set -g __svc_found ($words[1] __complete -- $words[2..-1] 2>/dev/null)
    test (count $__svc_found) -gt 0
end
complete -c svc -f -n __svc_ask -a '(printf "%s\\n" $__svc_found)'
`;

const SHELL_SCRIPTS: Record<Shell, string> = { bash: BASH, zsh: ZSH, fish: FISH };

export const getShellScript = (shell: Shell): string => SHELL_SCRIPTS[shell];
