/** The Homebrew formula of a release. */

export interface ReleaseFile {
  name: string;
  sha256: string;
}

/** Formats the Homebrew formula of a release. @param url address of the folder with the release's files */
export function formatFormula(version: string, url: string, files: readonly ReleaseFile[]): string {
  const block = (condition: string, target: string) => {
    const file = files.find(({ name }) => name === `svc-${target}`);
    if (!file) return "";
    return `    ${condition} do
      url "${url}/${file.name}"
      sha256 "${file.sha256}"
    end
`;
  };
  const system = (condition: string, name: string) => {
    const blocks = block("on_arm", `${name}-arm64`) + block("on_intel", `${name}-x64`);
    return blocks && `  ${condition} do\n${blocks}  end\n`;
  };
  return `class Svc < Formula
  desc "Self-hosted workflow automation in one executable file"
  homepage "${url}"
  version "${version}"
  license "Apache-2.0"

${system("on_macos", "macos")}
${system("on_linux", "linux")}
  def install
    bin.install Dir["svc-*"].first => "svc"
    generate_completions_from_executable(bin/"svc", "completion")
  end

  service do
    run [opt_bin/"svc", "serve", "--data-dir", var/"svc"]
    keep_alive true
    log_path var/"log/svc.log"
    error_log_path var/"log/svc.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/svc --version")
  end
end
`;
}
