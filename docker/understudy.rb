# A Homebrew formula. It has never been installed: no Mac and no Homebrew has run it. Its syntax is checked with ruby -c.
#
# OWNER, VERSION and CHECKSUM are filled in by .github/workflows/release.yml, which adds the result to the release; put
# that file into a tap's folder Formula. From a clone, without a release:  brew install --HEAD --formula docker/understudy.rb
class Understudy < Formula
  desc "Emulates the backends of mobile apps, for their developers and tests"
  homepage "https://github.com/OWNER/understudy"
  url "https://github.com/OWNER/understudy/archive/refs/tags/VERSION.tar.gz"
  sha256 "CHECKSUM"
  license "Apache-2.0"
  head "https://github.com/OWNER/understudy.git", branch: "main"

  depends_on "pkgconf" => :build
  # The first Xcode with Swift 6.1.
  depends_on xcode: ["16.3", :build]
  depends_on macos: :sequoia
  depends_on "openssl@3"
  depends_on "sqlite"
  uses_from_macos "swift" => :build

  def install
    # Not docker/release-options: those are options of the linker on Linux. Homebrew has a sandbox of its own.
    arguments = %w[--disable-sandbox --configuration release --product understudy]
    system "swift", "build", *arguments
    built = Utils.safe_popen_read("swift", "build", *arguments, "--show-bin-path").chomp

    # The program looks for its fixtures in the bundle beside itself on macOS, and below share elsewhere. A link in bin
    # would not have the bundle beside it.
    libexec.install "#{built}/understudy"
    bundle = Pathname("#{built}/understudy_Fixtures.bundle")
    libexec.install bundle if bundle.exist?
    (libexec/"Fixtures").install Dir["Fixtures/*"].reject { |each| each.end_with?(".swift") } unless OS.mac?
    bin.write_exec_script libexec/"understudy"

    # No manual pages: docker/manual.sh builds its tool in SwiftPM's sandbox, which cannot be in Homebrew's.
    generate_completions_from_executable(bin/"understudy", "--generate-completion-script")
  end

  service do
    run [opt_bin/"understudy", "serve"]
    keep_alive crashed: true
    working_dir var
    log_path var/"log/understudy.log"
    error_log_path var/"log/understudy.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/understudy --version") unless head?
    assert_match(/\Aey/, shell_output("#{bin}/understudy token mint rezolve login"))
    port = free_port
    server = spawn bin/"understudy", "serve", "--port", port.to_s, "--log", "off"
    begin
      system bin/"understudy", "healthcheck", "--server", "http://127.0.0.1:#{port}", "--within", "30s"
    ensure
      Process.kill "TERM", server
      Process.wait server
    end
  end
end
