import ArgumentParser
import HTTPEngine
import JSON

/// `understudy ca`
struct AuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca",
        abstract:
            "Shows the local CA, which issues the certificates of serve --https-port; creates it if needed.",
        discussion: """
            Example: understudy ca

            Clients must trust its certificate, here FILE:
              curl:     curl --cacert FILE https://localhost:8443/_understudy/health
              Python:   REQUESTS_CA_BUNDLE=FILE python app.py
              Node:     NODE_EXTRA_CA_CERTS=FILE node app.js
              iOS:      xcrun simctl keychain booted add-root-cert FILE
              Android:  adb push FILE /sdcard/Download/understudy-ca.crt
                        then, in the emulator's settings, install it as a CA
                        certificate, and have the app's debug build trust user
                        certificates in its network_security_config.

            Whoever has the key beside it can impersonate any server to clients that
            trust the certificate.
            """)

    @Option(
        help:
            "The CA's folder (default: $UNDERSTUDY_CA_DIRECTORY, $XDG_DATA_HOME/understudy/ca or ~/.local/share/understudy/ca).",
        completion: .directory)
    var directory: String?

    @Flag(help: "Print the certificate itself.")
    var pem = false

    @Flag(help: "Write JSON.")
    var json = false

    func run() throws {
        guard !pem || !json else { throw Misuse("--pem and --json are two forms of output; give one of them.") }
        let sources = try OptionSources(configurationFile: nil)
        let local = try LocalAuthority(in: LocalAuthority.folder(directory, sources))
        if pem { return Output.text(local.authority.certificatePEM) }
        let rows = [("certificate", local.certificatePath), ("sha256", local.authority.fingerprint)]
        if json { return Output.json(.object(JSONObject(rows.map { ($0, .string($1)) }))) }
        Output.table(rows.map { [$0, $1] })
    }
}
